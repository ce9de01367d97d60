//! Estimated makespan and critical path of a plan.
//!
//! The estimate is a simulated run. Its constraints are the order, one task at a time per node, and the
//! strategies of tasks; durations come from earlier runs. Of the instances that are ready on a node, the one
//! with the longest remaining chain starts first, as in real runs.

mod durations;
mod paths;
mod schedule;

use stoker_model::InstanceIdx;

use crate::plan::Plan;
pub use durations::DEFAULT_DURATION_MS;
use durations::Durations;

/// The recorded duration of a task on a node, in milliseconds. Arguments: task, node uid.
pub type DurationLookup<'d> = dyn Fn(&str, &str) -> Option<u64> + 'd;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Makespan: from the first start to the last end.
    pub total_ms: u64,
    /// The chain of instances that takes longest, in order, with durations in milliseconds. A lower bound of
    /// the makespan, independent of the number of executors.
    pub critical_path: Vec<(InstanceIdx, u64)>,
    /// Instances that run and have a recorded duration.
    pub n_measured: usize,
    /// Instances that run and whose duration is estimated: the median of the same task on other nodes, else
    /// the median of tasks of the same type, else [`DEFAULT_DURATION_MS`].
    pub n_estimated: usize,
}

impl Estimate {
    /// Duration of the critical path.
    pub fn critical_ms(&self) -> u64 {
        self.critical_path.iter().fold(0, |sum, (_, ms)| sum.saturating_add(*ms))
    }
}

/// Estimates a plan. Skipped instances take no time.
pub fn estimate(plan: &Plan, durations: &DurationLookup<'_>) -> Estimate {
    let durations = Durations::new(plan, durations);
    let remaining = paths::remaining(plan, &durations.ms);
    Estimate {
        total_ms: schedule::total_ms(plan, &durations.ms, &remaining),
        critical_path: paths::critical(plan, &durations.ms, &remaining),
        n_measured: durations.n_known,
        n_estimated: durations.n_unknown,
    }
}

/// For each instance, the duration of the longest chain that starts with it. Schedulers start the largest first.
pub fn remaining(plan: &Plan, durations: &DurationLookup<'_>) -> Vec<u64> {
    let mut remaining = paths::remaining(plan, &Durations::new(plan, durations).ms);
    remaining.truncate(plan.n_instances());
    remaining
}
