//! The last word of a server to an agent that it cannot speak with.

use serde::{Deserialize, Serialize};

use crate::codec::encode;
use crate::limits::MESSAGE_BYTES_MAX;

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum RefusalDto {
    Refused { message: String },
}

/// It is no message of the conversation, which has not begun: agents that do not know it pass it over and are cut off.
pub fn encode_refusal(message: &str) -> String {
    encode(&RefusalDto::Refused { message: message.to_owned() })
}

/// The reason, if a text that is no message is a refusal.
pub fn decode_refusal(text: &str) -> Option<String> {
    let RefusalDto::Refused { message } = serde_json::from_str(text).ok()?;
    Some(message.chars().take(MESSAGE_BYTES_MAX / 4).collect())
}
