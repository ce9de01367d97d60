//! How long a plan will take, and what it waits for.
//!
//! The order, one task at a time on each node, and the strategies of tasks say how fast a plan can be; durations of
//! earlier runs say how fast it will be. The estimate is a simulated run in which, of all that could start on a node,
//! what most is waiting for starts first: this is also how runs are driven.

mod durations;
mod paths;
mod schedule;

use crate::plan::Plan;
use durations::Durations;
pub use durations::UNKNOWN_MS;

/// What is known about how long a task takes on a node, in milliseconds.
pub type KnownDurations<'d> = dyn Fn(&str, &str) -> Option<u64> + 'd;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// From the first start to the last end.
    pub total_ms: u64,
    /// What runs in the chain that takes longest, in order: instances and their durations. No number of executors makes
    /// a run shorter than this.
    pub critical_path: Vec<(u32, u64)>,
    /// Instances that run and whose duration is known.
    pub n_known: usize,
    /// Instances that run and whose duration is guessed: the median of the same task on other nodes, else that of
    /// tasks of the same type, else [`UNKNOWN_MS`].
    pub n_unknown: usize,
}

impl Estimate {
    /// How long the critical path takes.
    pub fn critical_ms(&self) -> u64 {
        self.critical_path.iter().fold(0, |sum, (_, ms)| sum.saturating_add(*ms))
    }
}

/// Estimates a plan. What is skipped takes no time.
pub fn estimate(plan: &Plan, durations: &KnownDurations<'_>) -> Estimate {
    let durations = Durations::new(plan, durations);
    let remaining = paths::remaining(plan, &durations.ms);
    Estimate {
        total_ms: schedule::total_ms(plan, &durations.ms, &remaining),
        critical_path: paths::critical(plan, &durations.ms, &remaining),
        n_known: durations.n_known,
        n_unknown: durations.n_unknown,
    }
}

/// By instance, how long the longest chain takes that begins with it. Whoever has a choice starts the largest first.
pub fn remaining(plan: &Plan, durations: &KnownDurations<'_>) -> Vec<u64> {
    let mut remaining = paths::remaining(plan, &Durations::new(plan, durations).ms);
    remaining.truncate(plan.n_instances());
    remaining
}
