//! How messages between server and agent are spelled: JSON, one message a text.
//!
//! Owns types that exist only on the wire, so that the domain can change its mind without breaking the agents of the last
//! release. Unknown fields are ignored and unknown kinds of messages are told apart from broken ones: either side may be newer.
//! Refuses what is larger than it may be; knows nothing of sockets.

mod codec;
mod from_agent;
pub mod join;
mod limits;
pub mod record;
mod shared;
mod to_agent;

pub use codec::{Decoded, WireError, decode_from_agent, decode_to_agent, encode_from_agent, encode_to_agent};
pub use limits::{FROM_AGENT_BYTES_MAX, TO_AGENT_BYTES_MAX};

/// The version of the conversation, said in `hello`. A side that meets a greater one speaks its own; what it does not know
/// is ignored. It is raised when that is not enough.
pub const VERSION: u32 = 1;
