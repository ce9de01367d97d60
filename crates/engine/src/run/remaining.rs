//! The rest of a run that has ended.

use super::state::{InstanceState, RunMachine};
use crate::blueprint::Blueprint;

impl Blueprint {
    /// Returns the same blueprint with all successful instances skipped, to continue after a stop or a
    /// failure. Handlers that the run triggered need no further trigger. Indices are unchanged.
    pub fn remaining(&self, run: &RunMachine) -> Self {
        // The triggers of an untriggered handler may not have succeeded yet.
        let is_untriggered = |idx| self.handlers.only_triggered.contains(&idx) && !run.is_triggered(idx);
        let mut rest = self.skipping(|idx| {
            run.state(idx).is_some_and(InstanceState::needs_no_work)
                && !(run.state(idx) == Some(InstanceState::Skipped) && is_untriggered(idx))
        });
        rest.handlers.only_triggered.retain(|idx| !run.is_triggered(*idx));
        rest
    }
}
