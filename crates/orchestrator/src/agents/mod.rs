//! Agents as this server knows them: their sessions, the drivers that wait for their reports, and what is recorded of them in
//! batches.

mod command;
mod heartbeats;
mod output;
mod presence;
mod registry;

pub(crate) use command::{Command, RunResponse};
pub(crate) use heartbeats::{Heartbeats, INTERVAL as HEARTBEATS_INTERVAL};
pub(crate) use output::OutputWriter;
pub(crate) use presence::Presence;
pub(crate) use registry::{AgentLocation, INBOX_MAX, Line, executors_of};
pub use registry::{Agents, Proof};
