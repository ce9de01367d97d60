//! A seeded simulation of the whole system over the real machines: servers that crash, hang and take a run over from each
//! other, agents with any of them whose processes die or survive, disks that are full, machines that lose power, networks that
//! lose, delay and repeat.
//!
//! [`simulate()`] plays one seed to its end and says which rules were broken. Time is virtual; the same seed is the same
//! story, step by step. What really happened is kept apart from what the machines believe (`truth.rs`), and rules are
//! worked out again from it. [`Sabotage`] breaks a part on purpose, to prove that the rules would notice.

mod agents;
mod dice;
mod graph;
mod letters;
mod network;
mod servers;
mod truth;
mod world;

pub use dice::Dice;
pub use graph::random_draft;
pub use truth::Broken;
pub use world::{Sabotage, Story, simulate, simulate_draft, tell};
