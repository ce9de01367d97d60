//! Outcomes of nodes and runs.

use stoker_model::{GroupIdx, HistoryStatus, InstanceIdx, NodeIdx, NodeStatus, RunStatus};

use super::state::InstanceState;
use crate::blueprint::Blueprint;

/// Outcome of a node in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeOutcome {
    Succeeded,
    /// An instance of the node failed.
    Failed {
        by: InstanceIdx,
    },
    /// No instance failed, but some could not start.
    Blocked {
        by: InstanceIdx,
    },
    /// The agent was out of contact for too long.
    Lost,
    /// The run ended before the node had finished.
    Stopped,
}

impl NodeOutcome {
    /// Returns the node status to set, unless the graph overrides it.
    pub fn status(self) -> NodeStatus {
        match self {
            Self::Succeeded => NodeStatus::Ready,
            Self::Failed { .. } | Self::Blocked { .. } | Self::Lost => NodeStatus::Error,
            Self::Stopped => NodeStatus::Stopped,
        }
    }

    /// Returns the key of this outcome in `node_statuses_transitions`.
    pub fn transition(self) -> &'static str {
        match self {
            Self::Succeeded => "successful",
            Self::Failed { .. } | Self::Blocked { .. } | Self::Lost => "failed",
            Self::Stopped => "stopped",
        }
    }

    /// Returns a human-readable message; `None` on success.
    pub fn message(self, blueprint: &Blueprint) -> Option<String> {
        let task = |by| blueprint.names(by).map_or("?", |(task, _)| task);
        match self {
            Self::Succeeded => None,
            Self::Failed { by } => Some(format!("Task {} failed", task(by))),
            Self::Blocked { by } => Some(format!(
                "Some tasks were blocked: they depend on {}, which did not succeed",
                blueprint.name(by)
            )),
            Self::Lost => Some("The agent of the node was out of contact for too long".to_owned()),
            Self::Stopped => Some("The run was stopped before all tasks of the node had finished".to_owned()),
        }
    }
}

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// All instances succeeded or were skipped.
    Succeeded,
    /// Nodes failed, within the tolerance of their groups.
    Tolerated { n_failed_nodes: u32 },
    /// More nodes of a group failed than it tolerates.
    ToleranceExceeded { group: GroupIdx, nodes: Vec<NodeIdx> },
    /// A stage was not passed because this instance failed.
    StageHeld { stage: InstanceIdx, by: InstanceIdx },
    /// The run was stopped by request before it had finished.
    Stopped,
}

impl RunOutcome {
    /// Returns the status of the run. A stopped run counts as an error, so that the next run of a sequence
    /// does not start.
    pub fn status(&self) -> RunStatus {
        match self {
            Self::Succeeded | Self::Tolerated { .. } => RunStatus::Ready,
            Self::ToleranceExceeded { .. } | Self::StageHeld { .. } | Self::Stopped => RunStatus::Error,
        }
    }

    /// Returns a human-readable message; `None` on success.
    pub fn message(&self, blueprint: &Blueprint) -> Option<String> {
        match self {
            Self::Succeeded => None,
            Self::Tolerated { n_failed_nodes: 1 } => {
                Some("1 node failed, which its group tolerates".to_owned())
            }
            Self::Tolerated { n_failed_nodes } => {
                Some(format!("{n_failed_nodes} nodes failed, which their groups tolerate"))
            }
            Self::ToleranceExceeded { group, nodes } => {
                let group = blueprint.groups().get(group.index());
                let (name, tolerated) = group.map_or(("?", 0), |group| (&group.name, group.tolerated));
                let uids: Vec<&str> = nodes.iter().filter_map(|node| blueprint.node(*node)).collect();
                let uids = uids.join(", ");
                let failed = if tolerated == 1 { "failed node" } else { "failed nodes" };
                let n_failed = nodes.len();
                Some(format!("group `{name}` tolerates {tolerated} {failed}, but {n_failed} failed: {uids}"))
            }
            Self::StageHeld { stage, by } => {
                let (stage, by) = (blueprint.name(*stage), blueprint.name(*by));
                Some(format!("stage {stage} was not passed because {by} did not succeed"))
            }
            Self::Stopped => Some("the run was stopped".to_owned()),
        }
    }
}

impl InstanceState {
    /// Returns the status of the instance in the execution history.
    pub fn history_status(self) -> HistoryStatus {
        match self {
            Self::Pending | Self::Ready => HistoryStatus::Pending,
            Self::Dispatched | Self::Started | Self::BackingOff => HistoryStatus::Running,
            Self::Succeeded => HistoryStatus::Ready,
            Self::Failed | Self::Ignored | Self::Cancelled => HistoryStatus::Error,
            Self::Skipped | Self::Blocked | Self::NotStarted => HistoryStatus::Skipped,
        }
    }
}
