//! How nodes and runs end.

use stoker_model::{HistoryStatus, NodeStatus, RunStatus};

use super::state::State;
use crate::blueprint::Blueprint;

/// How the part of a node in a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeEnd {
    Succeeded,
    /// One of its instances failed.
    Failed {
        by: u32,
    },
    /// None of them failed, some could not begin.
    Blocked {
        by: u32,
    },
    /// It was not heard of for too long.
    Lost,
    /// The run ended before it.
    Stopped,
}

impl NodeEnd {
    /// The status the node gets, unless its graph says otherwise.
    pub fn status(self) -> NodeStatus {
        match self {
            Self::Succeeded => NodeStatus::Ready,
            Self::Failed { .. } | Self::Blocked { .. } | Self::Lost => NodeStatus::Error,
            Self::Stopped => NodeStatus::Stopped,
        }
    }

    /// The key of `node_statuses_transitions` that is about it.
    pub fn transition(self) -> &'static str {
        match self {
            Self::Succeeded => "successful",
            Self::Failed { .. } | Self::Blocked { .. } | Self::Lost => "failed",
            Self::Stopped => "stopped",
        }
    }

    /// For people; none if it went well.
    pub fn message(self, blueprint: &Blueprint) -> Option<String> {
        let task = |by| blueprint.names(by).map_or("?", |(task, _)| task);
        match self {
            Self::Succeeded => None,
            Self::Failed { by } => Some(format!("Task {} failed", task(by))),
            Self::Blocked { by } => {
                Some(format!("Some tasks wait for {}, which did not succeed", blueprint.name(by)))
            }
            Self::Lost => Some("The agent of the node was not heard of for too long".to_owned()),
            Self::Stopped => Some("The run was stopped before all tasks of the node were done".to_owned()),
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Everything that should be done was done.
    Succeeded,
    /// Nodes failed, as many as may.
    Tolerated { n_failed_nodes: u32 },
    /// More nodes of a group failed than may.
    ToleranceExceeded { group: u32, nodes: Vec<u32> },
    /// A stage was not passed, because of this instance.
    Held { stage: u32, by: u32 },
    /// Somebody stopped it before everything was done.
    Stopped,
}

impl RunEnd {
    /// A stopped run is an error, because what comes after it in a sequence must not begin.
    pub fn status(&self) -> RunStatus {
        match self {
            Self::Succeeded | Self::Tolerated { .. } => RunStatus::Ready,
            Self::ToleranceExceeded { .. } | Self::Held { .. } | Self::Stopped => RunStatus::Error,
        }
    }

    /// For people; none if everything went well.
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
                let group = blueprint.groups().get(*group as usize);
                let (name, tolerated) = group.map_or(("?", 0), |group| (&group.name, group.tolerated));
                let uids: Vec<&str> = nodes.iter().filter_map(|node| blueprint.node(*node)).collect();
                let uids = uids.join(", ");
                let failed = if tolerated == 1 { "failed node" } else { "failed nodes" };
                let these = if nodes.len() == 1 { "this one" } else { "these" };
                Some(format!("Group `{name}` tolerates {tolerated} {failed}, and {these} failed: {uids}"))
            }
            Self::Held { stage, by } => {
                let (stage, by) = (blueprint.name(*stage), blueprint.name(*by));
                Some(format!("The stage {stage} was not passed, because {by} did not succeed"))
            }
            Self::Stopped => Some("The run was stopped".to_owned()),
        }
    }
}

impl State {
    /// The word of the history for it.
    pub fn history(self) -> HistoryStatus {
        match self {
            Self::Pending | Self::Ready => HistoryStatus::Pending,
            Self::Dispatched | Self::Started | Self::Pausing => HistoryStatus::Running,
            Self::Succeeded => HistoryStatus::Ready,
            Self::Failed | Self::Ignored | Self::Cancelled => HistoryStatus::Error,
            Self::Skipped | Self::Blocked | Self::NotStarted => HistoryStatus::Skipped,
        }
    }
}
