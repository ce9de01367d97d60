//! Several servers on one PostgreSQL: real processes that are killed, stopped and started while runs go on.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]
#![expect(clippy::disallowed_methods, reason = "tests look at the clock and at the environment")]

mod bus;
mod client;
mod cuts;
#[path = "../guarded/mod.rs"]
mod guarded;
mod island;
mod journal;
mod kept;
mod kills;
mod nats;
mod outage;
mod pauses;
mod requests;
mod site;
mod start;
