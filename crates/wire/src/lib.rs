//! JSON encoding of messages between server and agent, one JSON object per message.
//!
//! Owns the serialized types, so that domain types can change without breaking agents of the previous
//! release. Unknown fields are ignored, and unknown message types are distinguished from malformed messages,
//! because either side may be newer. Rejects messages and fields over their size limits. Does no I/O.

mod check;
mod codec;
mod from_agent;
pub mod join;
mod limits;
pub mod nats;
pub mod record;
mod refusal;
mod shared;
mod to_agent;

pub use codec::{Decoded, WireError};
pub use from_agent::{decode_from_agent, encode_from_agent};
pub use limits::{FROM_AGENT_BYTES_MAX, TO_AGENT_BYTES_MAX};
pub use refusal::{decode_refusal, encode_refusal};
pub use to_agent::{decode_to_agent, encode_to_agent};

/// Protocol version, sent in `hello`. Versions that differ by one interoperate: unknown fields and message
/// types are ignored, and missing fields have defaults. If the difference is larger, the server refuses the
/// agent and names the side to upgrade.
///
/// Version 2: the agent understands refusals with a reason.
pub const PROTOCOL_VERSION: u32 = 2;
