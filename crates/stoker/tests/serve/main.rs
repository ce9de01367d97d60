//! The server as a real process with a socket and a data directory.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "tests read the clock and the environment")]

mod agent_locations;
mod api_guide;
mod backup;
mod configuration;
mod crash;
mod drift;
mod evidence;
mod histories;
mod joins;
mod kills;
mod modules;
mod nats;
mod plugins;
mod process;
mod quick_start;
mod replacement;
mod repositories;
mod resources;
mod runs;
#[path = "../secured_nats/mod.rs"]
mod secured_nats;
mod site;
mod ssh;
#[path = "../sshd/mod.rs"]
mod sshd;
mod start;
mod tls;
mod traces;
#[path = "../transcript/mod.rs"]
mod transcript;
mod versions;
mod webhooks;
