//! State of a node during a run.

use std::collections::BTreeSet;

use stoker_model::{InstanceIdx, Micros};

use super::end::NodeOutcome;

#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags change independently")]
pub(super) struct NodeState {
    /// Instances that have not ended.
    pub(super) n_open: u32,
    pub(super) is_busy: bool,
    pub(super) lost_since: Option<Micros>,
    /// Whether the node was lost for too long; it does not rejoin this run.
    pub(super) is_given_up: bool,
    /// Whether the node was counted as failed; a node counts once.
    pub(super) is_counted: bool,
    /// First failed instance, first cause of a blocked instance, and whether an instance was stopped.
    pub(super) failed_by: Option<InstanceIdx>,
    pub(super) blocked_by: Option<InstanceIdx>,
    pub(super) is_stopped: bool,
    /// Whether the end of the node is queued in `Run::due`.
    pub(super) is_end_due: bool,
    pub(super) end: Option<NodeOutcome>,
    /// Instances in flight on its agent, possibly on behalf of other nodes.
    pub(super) flights: BTreeSet<InstanceIdx>,
}

impl NodeState {
    pub(super) fn new(n_instances: u32) -> Self {
        Self {
            n_open: n_instances,
            is_busy: false,
            lost_since: None,
            is_given_up: false,
            is_counted: false,
            failed_by: None,
            blocked_by: None,
            is_stopped: false,
            is_end_due: false,
            end: None,
            flights: BTreeSet::new(),
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed_by.is_some()
    }

    /// Records that an instance of the node could not start.
    pub(super) fn block(&mut self, by: InstanceIdx) {
        self.blocked_by.get_or_insert(by);
    }

    /// Returns the outcome of the node; called when none of its instances is open.
    pub(super) fn verdict(&self) -> NodeOutcome {
        if self.is_given_up {
            NodeOutcome::Lost
        } else if let Some(by) = self.failed_by {
            NodeOutcome::Failed { by }
        } else if self.is_stopped {
            NodeOutcome::Stopped
        } else if let Some(by) = self.blocked_by {
            NodeOutcome::Blocked { by }
        } else {
            NodeOutcome::Succeeded
        }
    }
}
