//! An agent and a server that is only this test, in one process; what the agent runs is real.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod joining;
mod restarts;
mod rig;
mod tls;
mod work;
