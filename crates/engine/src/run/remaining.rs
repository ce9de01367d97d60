//! The rest of a run that has ended.

use super::state::{InstanceState, RunMachine};
use crate::blueprint::Blueprint;

impl Blueprint {
    /// Returns the same blueprint with all successful instances skipped, to continue after a stop or a
    /// failure. Indices are unchanged.
    pub fn remaining(&self, run: &RunMachine) -> Self {
        self.skipping(|idx| run.state(idx).is_some_and(InstanceState::needs_no_work))
    }
}
