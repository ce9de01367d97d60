//! The command line over REST: the real program against a real server with agents inside of it.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]

mod clusters;
mod demo;
mod desk;
mod graphs;
mod login;
mod plans;
#[path = "../serve/process.rs"]
#[expect(dead_code, reason = "its client is for tests that need no command line")]
mod process;
mod runs;
mod screen;
mod tables;
mod usage;
mod webhooks;
