//! The conversation between a server and an agent.
//!
//! A server may send the same attempt twice, and an agent may report the same end twice. Neither may do harm: the
//! agent's journal knows each attempt by its key, and the server has an end for each key at most once.

pub mod agent;
pub mod host;
mod message;
pub mod server;
mod told;

pub use message::{
    Attempt, AttemptKey, CancelHow, End, Finished, FromAgent, Generation, Hello, Mode, Stream, ToAgent,
};
