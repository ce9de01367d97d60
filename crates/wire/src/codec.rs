//! Text to messages and back.

use serde::Serialize;
use serde::de::DeserializeOwned;
use stoker_engine::session::{FromAgent, ToAgent};

use crate::from_agent::FromAgentDto;
use crate::limits::{FROM_AGENT_BYTES_MAX, TO_AGENT_BYTES_MAX};
use crate::to_agent::ToAgentDto;

/// A text that was understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded<T> {
    Message(T),
    /// A kind of message that this version does not know; whoever sent it is newer.
    Unknown,
}

/// Why a text is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("a message of {n_bytes} bytes is larger than the {bytes_max} it may have")]
    TooLarge { n_bytes: usize, bytes_max: usize },
    #[error("a message makes no sense: {reason}")]
    Nonsense { reason: String },
    /// Whoever sent it is too far away.
    #[error("the agent speaks version {theirs} of the conversation and this server version {ours}: {}", upgrade(*theirs, *ours))]
    Version { theirs: u32, ours: u32 },
    #[error("`{field}` of a message is larger than the {max} it may be")]
    FieldTooLarge { field: &'static str, max: usize },
}

fn upgrade(theirs: u32, ours: u32) -> &'static str {
    if theirs < ours { "upgrade the agent" } else { "upgrade the server" }
}

/// One step apart is near enough: that is how servers and agents are upgraded one after the other.
pub(crate) fn near_enough(theirs: u32, ours: u32) -> Result<(), WireError> {
    if theirs.abs_diff(ours) <= 1 { Ok(()) } else { Err(WireError::Version { theirs, ours }) }
}

pub fn encode_to_agent(message: &ToAgent) -> String {
    encode(&ToAgentDto::from(message))
}

pub fn encode_from_agent(message: &FromAgent) -> String {
    encode(&FromAgentDto::from(message))
}

pub fn decode_to_agent(text: &str) -> Result<Decoded<ToAgent>, WireError> {
    decode::<ToAgentDto>(text, TO_AGENT_BYTES_MAX)?.into_domain()
}

pub fn decode_from_agent(text: &str) -> Result<Decoded<FromAgent>, WireError> {
    decode::<FromAgentDto>(text, FROM_AGENT_BYTES_MAX)?.into_domain()
}

/// Everything sent is made of texts, numbers, lists and maps with text for keys, which cannot fail.
pub(crate) fn encode<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(crate) fn decode<T: DeserializeOwned>(text: &str, bytes_max: usize) -> Result<T, WireError> {
    if text.len() > bytes_max {
        return Err(WireError::TooLarge { n_bytes: text.len(), bytes_max });
    }
    serde_json::from_str(text).map_err(|error| WireError::Nonsense { reason: error.to_string() })
}

/// For lengths that the shape of a message does not bound.
pub(crate) fn at_most(field: &'static str, n: usize, max: usize) -> Result<(), WireError> {
    if n > max { Err(WireError::FieldTooLarge { field, max }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_apart_is_near_enough_and_two_are_not() {
        for (theirs, ours) in [(1, 1), (1, 2), (3, 2), (2, 2), (u32::MAX, u32::MAX)] {
            assert_eq!(near_enough(theirs, ours), Ok(()), "{theirs} {ours}");
        }
        let told = |theirs, ours| near_enough(theirs, ours).unwrap_err().to_string();
        assert!(
            told(1, 3)
                .ends_with("version 1 of the conversation and this server version 3: upgrade the agent")
        );
        assert!(told(4, 2).ends_with("upgrade the server"));
        assert!(told(0, u32::MAX).ends_with("upgrade the agent"));
    }
}
