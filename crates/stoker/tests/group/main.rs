//! Several servers on one PostgreSQL: real processes that are killed, stopped and started during runs.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "tests read the clock and the environment")]

mod bus;
mod client;
mod doubt;
mod journal;
mod kills;
mod nats;
mod network_namespace;
mod outage;
mod partitions;
mod pauses;
mod requests;
mod result_stream;
#[path = "../secured_nats/mod.rs"]
mod secured_nats;
mod site;
mod start;
