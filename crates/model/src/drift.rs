//! Drift: differences between a node and the state that tasks last applied to it.

use crate::{ClusterId, DriftCheckId, GraphType, HostDifference, Micros, RunId, words};

words! {
    /// Result of a check of a task on a node.
    DriftStatus {
        /// The node is in the state that was applied.
        InSync => "in_sync",
        /// The desired inputs of the task differ from the applied ones, so the next plan runs it anyway.
        Changed => "changed",
        /// The node differs from the state that was applied.
        Drifted => "drifted",
        /// The state of the node could not be read.
        Unknown => "unknown",
    }
}

words! {
    /// What the drift of a task causes.
    OnDrift {
        /// The next plan runs the task.
        Repair => "repair",
        /// The drift is only reported.
        Report => "report",
        /// The task is not checked.
        Ignore => "ignore",
    }
}

/// A check of the nodes of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftCheck {
    pub id: DriftCheckId,
    pub cluster_id: ClusterId,
    pub graph_type: GraphType,
    pub created_by: String,
    pub started_at: Micros,
    /// A check that has not ended by this time was lost with its server.
    pub alive_until: Micros,
    pub ended_at: Option<Micros>,
    /// Why the check failed.
    pub problem: Option<String>,
    pub n_in_sync: i64,
    pub n_changed: i64,
    pub n_drifted: i64,
    pub n_unknown: i64,
}

impl DriftCheck {
    pub fn is_running(&self, now: Micros) -> bool {
        self.ended_at.is_none() && now < self.alive_until
    }
}

/// Number of results by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriftCounts {
    pub n_in_sync: i64,
    pub n_changed: i64,
    pub n_drifted: i64,
    pub n_unknown: i64,
}

impl DriftCounts {
    pub fn add(&mut self, status: DriftStatus) {
        *match status {
            DriftStatus::InSync => &mut self.n_in_sync,
            DriftStatus::Changed => &mut self.n_changed,
            DriftStatus::Drifted => &mut self.n_drifted,
            DriftStatus::Unknown => &mut self.n_unknown,
        } += 1;
    }
}

/// Latest result for a task on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftResult {
    pub node_uid: String,
    pub task_name: String,
    /// Run of the success with which the node was compared.
    pub run_id: RunId,
    pub checked_at: Micros,
    pub status: DriftStatus,
    /// Whether plans repair the drift.
    pub repairs: bool,
    /// Why the status is unknown.
    pub message: Option<String>,
    pub diff: Vec<HostDifference>,
}

/// Nodes on which a task last succeeded in the same run, with the same inputs, and is not in doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedInstances {
    pub task_name: String,
    /// Inputs fingerprint in hexadecimal.
    pub inputs: Option<String>,
    pub run_id: RunId,
    /// Node UIDs, sorted.
    pub nodes: Vec<String>,
}
