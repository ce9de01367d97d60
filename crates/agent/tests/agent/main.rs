//! Tests of an agent against a server simulated in the same process; processes are real.

#![expect(clippy::unwrap_used, reason = "test helpers may panic")]

mod checks;
mod joining;
mod restarts;
mod rig;
mod tls;
mod work;
