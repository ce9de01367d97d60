//! Refusal sent to an agent with an incompatible protocol version.

use serde::{Deserialize, Serialize};

use crate::codec::encode;
use crate::limits::MESSAGE_BYTES_MAX;

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum RefusalDto {
    Refused { message: String },
}

/// Encodes a refusal. It is sent before the session starts and is not a
/// [`ToAgent`](stoker_engine::session::ToAgent) message: agents that do not know it ignore it and are
/// disconnected.
pub fn encode_refusal(message: &str) -> String {
    encode(&RefusalDto::Refused { message: message.to_owned() })
}

/// Returns the reason if `text` is a refusal, truncated to the message limit.
pub fn decode_refusal(text: &str) -> Option<String> {
    let RefusalDto::Refused { message } = serde_json::from_str(text).ok()?;
    Some(message.chars().take(MESSAGE_BYTES_MAX / 4).collect())
}
