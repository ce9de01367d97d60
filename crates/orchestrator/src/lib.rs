//! Executes runs: drivers and their leases, agent sessions, and messages between the servers that share a
//! database.
//!
//! State is read and written through `stoker-store`; agents are reached through the
//! [`session::AgentTransport`] port. Use cases that end with the request belong to `stoker-services`, which
//! also plans the graphs of a run.
//!
//! Modules, from bottom to top: `context` (shared dependencies), `agents`, `event_feed`, `leases`,
//! `local_agents`, `nats` and `peers` (components), `orchestrator` (composes the components), `results` and
//! `routing` (deliver agent reports to drivers), `session`, `agent_launcher` and `machines` (agents), `runs` (drivers),
//! `drift` (checks of nodes), `instances` (instances of the
//! module API), `nats_inbox` and `peer_inbox` (incoming messages), `lifecycle` (background tasks).

pub mod agent_launcher;
mod agents;
mod context;
pub mod drift;
mod event_feed;
pub mod instances;
mod late_results;
mod leases;
pub mod lifecycle;
pub mod local_agents;
mod machines;
mod metrics;
mod nats;
mod nats_inbox;
mod orchestrator;
mod peer_inbox;
mod peers;
mod record;
mod results;
mod routing;
pub mod runs;
pub mod session;
#[cfg(test)]
mod test_support;

pub use agents::{Agents, CredentialDigest};
pub use context::OrchestratorContext;
pub use event_feed::EventFeed;
pub use local_agents::{AgentGuard, AgentPlace, AgentSpawner, LocalAgent, LocalConnection};
pub use machines::verify_machines;
pub use metrics::{AgentMetrics, BusMetrics, OrchestratorMetrics, RunMetrics};
pub use nats::NatsUsers;
pub use orchestrator::{Orchestrator, StartError};
pub use peers::Peers;
