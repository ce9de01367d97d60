//! Runs as they happen: what was asked is carried out graph by graph, what the engine decides is written down and then
//! done, and agents are spoken with.
//!
//! ```text
//! launch ─▶ conductor ─▶ driver ─▶ engine          decides; pure
//!                          │  ▲
//!                          ▼  │ commands
//!                        agents ◀─▶ session ◀─▶ an agent
//! ```
//!
//! A driver writes events, history, successes and the state of nodes in one transaction and speaks afterwards. Whatever
//! is killed, whoever takes the run up reads its events and says again what has to be said.

mod agents;
mod command;
mod conclude;
mod conductor;
mod dispatch;
mod driver;
mod durations;
mod launch;
mod leases;
mod live;
mod local;
mod module_work;
mod modules;
mod news;
mod outcome;
mod output;
mod over_ssh;
mod projection;
mod reapply;
mod record;
mod remarks;
mod request;
mod restore;
mod seen;
mod session;
mod settle;
mod sightings;
mod spans;
mod telling;
mod wait;
mod work;

pub(crate) use agents::{Agents, Place, Proof};
pub(crate) use command::Command;
pub(crate) use conclude::stop_parts;
pub(crate) use launch::{Launch, active, active_runs, launch, launch_as_seen, launch_in, require_idle};
pub(crate) use leases::Leases;
pub(crate) use live::Live;
pub(crate) use local::Locals;
pub use local::{AgentGuard, AgentPlace, AgentSpawner, LocalAgent, LocalConnection};
pub(crate) use news::News;
pub(crate) use output::OutputWriter;
pub(crate) use over_ssh::over_ssh;
pub(crate) use projection::OUTCOME;
pub(crate) use request::decode as decode_request;
pub(crate) use request::{AT_STAGES, GraphRequest, Manner, ON_FAILURE, parse_at_stages, parse_on_failure};
pub(crate) use seen::Seen;
pub(crate) use session::{Carrier, converse, has_ended, keep_output, pass_on, say_again};
pub(crate) use settle::{Settled, settle, settle_here};
pub(crate) use sightings::Sightings;
pub(crate) use wait::wait;

/// The key in the result of a run that was stopped.
pub(crate) const STOPPED: &str = "stopped";

/// The uid of the node on which the server runs.
pub(crate) const MASTER: &str = stoker_planner::state::MASTER;
