//! The server as users run it: a process, a socket, a folder.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]

mod backup;
mod crash;
mod process;
mod start;
mod walk;
