//! What is left of a run, as a run of its own.

use super::{Blueprint, NONE};
use crate::run::Run;

impl Blueprint {
    /// The same with everything skipped that needs no more doing: for going on after a stop, a failure or a fault. Numbers
    /// stay what they are.
    pub fn remaining(&self, run: &Run) -> Self {
        self.without(|idx| run.state(idx).is_some_and(crate::run::State::is_good))
    }

    /// Only these instances and what comes after them.
    pub fn from_instances(&self, instances: &[u32]) -> Self {
        let known = instances.iter().copied().filter(|idx| (*idx as usize) < self.instances.len());
        let is_after = self.order.reachable(known);
        self.without(|idx| !is_after[idx as usize])
    }

    fn without(&self, is_left_out: impl Fn(u32) -> bool) -> Self {
        let mut rest = self.clone();
        for (idx, instance) in (0..).zip(&mut rest.instances) {
            if is_left_out(idx) {
                instance.executor = NONE;
                instance.policy = NONE;
            }
        }
        rest
    }
}
