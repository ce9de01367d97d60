//! How messages between server and agent are spelled: JSON, one message a text.
//!
//! Owns types that exist only on the wire, so that the domain can change its mind without breaking the agents of the last
//! release. Unknown fields are ignored and unknown kinds of messages are told apart from broken ones: either side may be newer.
//! Refuses what is larger than it may be; knows nothing of sockets.

mod codec;
mod from_agent;
pub mod join;
mod limits;
pub mod nats;
pub mod record;
mod refusal;
mod shared;
mod to_agent;

pub use codec::{Decoded, WireError, decode_from_agent, decode_to_agent, encode_from_agent, encode_to_agent};
pub use limits::{FROM_AGENT_BYTES_MAX, TO_AGENT_BYTES_MAX};
pub use refusal::{decode_refusal, encode_refusal};

/// The version of the conversation, said in `hello`. One step apart both sides go on: unknown fields and kinds are passed
/// over, missing ones have a meaning. Two steps apart the agent is told who has to be upgraded.
///
/// 2: an agent understands why it is refused.
pub const VERSION: u32 = 2;
