//! The agent as a program: a real process, a real WebSocket, real kills. The server is only this test.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]
#![expect(clippy::disallowed_methods, reason = "tests look at the clock and at the environment")]

mod harness;
mod kills;
mod program;
mod ssh;
#[path = "../sshd/mod.rs"]
mod sshd;
