//! Carries runs out: drivers and their leases, sessions with agents, and messages between the servers of one database.
//!
//! It reads and writes through `stoker-store` and speaks with agents through the port [`session::AgentTransport`]. Use cases that do
//! not outlive a request are those of `stoker-services`, which it uses to plan the graphs of a run.
//!
//! Modules from bottom to top: `context` (what everything shares), `agents`, `event_feed`, `leases`, `local_agents`, `nats`,
//! `peers` (the parts), `orchestrator` (the parts composed), `results` and `routing` (the way of a report to its driver),
//! `session` and `agent_launcher` (agents), `runs` (drivers), `nats_inbox` and `peer_inbox` (the ways in), `lifecycle` (all
//! background tasks).

pub mod agent_launcher;
mod agents;
mod context;
mod event_feed;
mod leases;
pub mod lifecycle;
pub mod local_agents;
mod metrics;
mod nats;
mod nats_inbox;
mod orchestrator;
mod peer_inbox;
mod peers;
mod results;
mod routing;
pub mod runs;
pub mod session;

pub use agents::{Agents, Proof};
pub use context::OrchestratorContext;
pub use event_feed::EventFeed;
pub use local_agents::{AgentGuard, AgentPlace, AgentSpawner, LocalAgent, LocalConnection};
pub use metrics::{AgentMetrics, BusMetrics, OrchestratorMetrics, RunMetrics};
pub use nats::NatsUsers;
pub use orchestrator::{Orchestrator, StartError};
pub use peers::Peers;
