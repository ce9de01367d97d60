//! The agent as a program: a real process, a real WebSocket, real kills. The test is the server.

#![expect(clippy::unwrap_used, reason = "test helpers fail by panicking")]

mod harness;
mod kills;
mod program;
mod ssh;
#[path = "../sshd/mod.rs"]
mod sshd;
