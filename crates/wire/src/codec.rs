//! JSON encoding and decoding, with the limits that all messages share.

use stoker_model::ErrorChain;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Decoded message.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded<T> {
    Message(T),
    /// Message type introduced by a newer version; receivers ignore it.
    Unknown,
}

/// Error while decoding a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("message of {n_bytes} bytes exceeds the limit of {bytes_max} bytes")]
    TooLarge { n_bytes: usize, bytes_max: usize },
    #[error("malformed message: {reason}")]
    Malformed { reason: String },
    /// The peer's protocol version differs by more than one.
    #[error("agent uses protocol version {theirs} but this server uses version {ours}: {}", upgrade_hint(*theirs, *ours))]
    Version { theirs: u32, ours: u32 },
    #[error("message field `{field}` exceeds the limit of {max}")]
    FieldTooLarge { field: &'static str, max: usize },
}

fn upgrade_hint(theirs: u32, ours: u32) -> &'static str {
    if theirs < ours { "upgrade the agent" } else { "upgrade the server" }
}

/// Accepts versions that differ by at most one, as during a rolling upgrade of servers and agents.
pub(crate) fn check_version(theirs: u32, ours: u32) -> Result<(), WireError> {
    if theirs.abs_diff(ours) <= 1 { Ok(()) } else { Err(WireError::Version { theirs, ours }) }
}

/// Serializes a message. This cannot fail: messages contain only strings, numbers, lists and maps with string
/// keys.
pub(crate) fn encode<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(crate) fn decode<T: DeserializeOwned>(text: &str, bytes_max: usize) -> Result<T, WireError> {
    if text.len() > bytes_max {
        return Err(WireError::TooLarge { n_bytes: text.len(), bytes_max });
    }
    serde_json::from_str(text)
        .map_err(|error| WireError::Malformed { reason: ErrorChain(&error).to_string() })
}

/// Checks a length that the type of a message does not bound.
pub(crate) fn check_length(field: &'static str, n: usize, max: usize) -> Result<(), WireError> {
    if n > max { Err(WireError::FieldTooLarge { field, max }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_one_apart_are_compatible() {
        for (theirs, ours) in [(1, 1), (1, 2), (3, 2), (2, 2), (u32::MAX, u32::MAX)] {
            assert_eq!(check_version(theirs, ours), Ok(()), "{theirs} {ours}");
        }
        let message = |theirs, ours| check_version(theirs, ours).unwrap_err().to_string();
        assert!(
            message(1, 3).ends_with("protocol version 1 but this server uses version 3: upgrade the agent")
        );
        assert!(message(4, 2).ends_with("upgrade the server"));
        assert!(message(0, u32::MAX).ends_with("upgrade the agent"));
    }
}
