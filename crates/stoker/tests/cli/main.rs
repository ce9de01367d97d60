//! The command line against a real server with in-process agents.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]

mod clusters;
mod demo;
mod fixture;
mod graphs;
mod login;
mod plans;
#[path = "../serve/process.rs"]
#[expect(dead_code, reason = "its client is used by tests without the command line")]
mod process;
mod runs;
mod screen;
mod tables;
#[path = "../transcript/mod.rs"]
mod transcript;
mod usage;
mod webhooks;
