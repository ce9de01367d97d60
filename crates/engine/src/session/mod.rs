//! Session protocol between a server and an agent.
//!
//! Delivery is at least once in both directions: a server may resend an attempt and an agent may resend a
//! result. Both are deduplicated: the agent's journal contains the key of each attempt, and the server
//! records at most one result per key.

pub mod agent;
mod attempt_log;
mod check;
pub mod host;
mod message;
pub mod server;

pub use check::{CheckItem, CheckOutcome, CheckReport, CheckRequest};
pub use message::{
    Attempt, AttemptKey, AttemptResult, CancelMode, FromAgent, Generation, Hello, InFlight, Mode, ResultKind,
    Stream, ToAgent,
};
