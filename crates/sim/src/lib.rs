//! Deterministic simulation of the whole system with the real state machines: servers that crash, hang and
//! take over a run, agents that reconnect to any server and whose processes die or survive, full disks, power
//! loss, and networks that lose, delay and duplicate messages.
//!
//! [`simulate()`] runs one seed to its end and reports violated invariants. Time is virtual, and a seed
//! always produces the same sequence of steps. The ground truth is kept separate from the state of the
//! machines (`oracle.rs`), and the invariants are checked against it. [`Sabotage`] injects a defect to prove
//! that the invariants would detect it.
//!
//! [`simulate_plans()`] replays random histories of clusters and compares each plan with an independent oracle.

mod graph;
mod oracle;
mod plans;
mod rng;
mod world;

pub use graph::random_draft;
pub use oracle::Violation;
pub use plans::{PlanSabotage, PlanViolation, PlansReport, describe_shrunk, simulate_plans};
pub use rng::Rng;
pub use world::{Sabotage, SimReport, simulate, simulate_draft, simulate_logged};
