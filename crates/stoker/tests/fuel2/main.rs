//! The public command line client of Fuel, unmodified, against the server as users start it.
//!
//! `cargo xtask test --only clients` installs the client and runs this; the scenarios are in one module so that the
//! other step of tests can leave them out by its name.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]
#![expect(clippy::disallowed_methods, reason = "tests look at the clock and at the environment")]

mod harness;
#[expect(dead_code, reason = "the tests of the server use more of it")]
#[path = "../serve/process.rs"]
mod process;
mod real_client;
