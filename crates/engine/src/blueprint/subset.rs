//! Blueprints for a part of a run.

use super::{Blueprint, NONE};
use crate::run::RunMachine;

impl Blueprint {
    /// The same blueprint with all successful instances skipped, to continue after a stop or a failure.
    /// Indices are unchanged.
    pub fn remaining(&self, run: &RunMachine) -> Self {
        self.skipping(|idx| run.state(idx).is_some_and(crate::run::InstanceState::needs_no_work))
    }

    /// The same blueprint with everything skipped except these instances and their successors.
    pub fn from_instances(&self, instances: &[u32]) -> Self {
        let valid = instances.iter().copied().filter(|idx| (*idx as usize) < self.instances.len());
        let is_after = self.order.reachable(valid);
        self.skipping(|idx| !is_after[idx as usize])
    }

    fn skipping(&self, is_skipped: impl Fn(u32) -> bool) -> Self {
        let mut rest = self.clone();
        for (idx, instance) in (0..).zip(&mut rest.instances) {
            if is_skipped(idx) {
                instance.executor = NONE;
                instance.policy = NONE;
            }
        }
        rest
    }
}
