//! In-memory registry of agent sessions and driven runs, and batched writers of agent heartbeats, presence
//! and task output.

mod checks;
mod command;
mod heartbeats;
mod output;
mod presence;
mod registry;

pub(crate) use checks::{PendingChecks, server_of};
pub(crate) use command::{Command, RunResponse};
pub(crate) use heartbeats::{Heartbeats, INTERVAL as HEARTBEATS_INTERVAL};
pub(crate) use output::OutputWriter;
pub(crate) use presence::Presence;
pub(crate) use registry::{AgentLocation, Connection, INBOX_MAX, executors_of};
pub use registry::{Agents, CredentialDigest};
