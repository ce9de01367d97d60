//! The public Fuel command-line client, unmodified, against a real server.
//!
//! `cargo xtask test --only clients` installs the client and runs these tests; all scenarios are in one module, so that
//! other test steps can exclude them by name.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "tests read the clock and the environment")]

mod harness;
#[expect(dead_code, reason = "the server tests use more of it")]
#[path = "../serve/process.rs"]
mod process;
mod real_client;
