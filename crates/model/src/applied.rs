//! Applied states: with which state a task last succeeded on a node, and whether a later attempt made it doubtful.

use crate::{AgentUid, DocumentId, RunId, SnapshotId, words};

words! {
    /// How the last attempt ended if it did not succeed. The previous state of the node is then unknown.
    TaintCause {
        /// Dispatched and not ended; also what remains of an attempt whose driver crashed.
        InFlight => "in_flight",
        Failed => "failed",
        TimedOut => "timed_out",
        Cancelled => "cancelled",
        Interrupted => "interrupted",
        /// The agent reported no result, or reported one after a newer attempt.
        Unknown => "unknown",
        /// One of its triggers may have changed something, and the task has not succeeded since.
        Triggered => "triggered",
        /// The task succeeded, and a later check found that the node differs. Never stored with the applied state.
        Drifted => "drifted",
    }
}

words! {
    /// Effect of a changed task definition on the plans of a graph.
    OnDefinitionChange {
        Rerun => "rerun",
        /// Plan from states only, as Fuel does.
        Keep => "keep",
    }
}

/// The documents that a plan was computed from, except those of single nodes. Content-addressed: equal
/// documents give the same snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub id: SnapshotId,
    /// The state common to all nodes.
    pub common_id: DocumentId,
    /// Task fields as written, by task. `None` if the plan was deleted before snapshots existed.
    pub graph_id: Option<DocumentId>,
    /// Digests of files and helpers that tasks use, and the layers that set task attributes.
    pub sources_id: Option<DocumentId>,
    /// Statuses of nodes and cluster after a successful run.
    pub settled_id: Option<DocumentId>,
}

/// Tasks with the same applied state and taint on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedGroup {
    pub node_uid: String,
    /// `None` if the tasks never succeeded on the node.
    pub snapshot_id: Option<SnapshotId>,
    /// The node's own document.
    pub document_id: Option<DocumentId>,
    /// Run of the last attempt if it did not succeed: the parent run if there is one.
    pub tainted_by: Option<RunId>,
    pub taint: Option<TaintCause>,
    /// Task names, sorted.
    pub tasks: Vec<String>,
}

/// Nodes on which a task last succeeded with the same inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedInputs {
    pub task_name: String,
    /// Inputs fingerprint in hexadecimal. `None` for successes recorded before fingerprints existed.
    pub inputs: Option<String>,
    /// The rendered parameters, with secrets masked.
    pub inputs_id: Option<DocumentId>,
    /// Node UIDs, sorted.
    pub nodes: Vec<String>,
}

/// Taint of a task on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedMark {
    pub node_uid: String,
    pub task_name: String,
    pub cause: TaintCause,
}

/// The success of a task on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedSuccess {
    pub node_uid: String,
    pub task_name: String,
    /// The node's own document.
    pub document_id: DocumentId,
    /// Inputs fingerprint in hexadecimal. `None` if the plan was created by a version without fingerprints.
    pub inputs: Option<String>,
    /// The rendered parameters, with secrets masked.
    pub inputs_id: Option<DocumentId>,
}

/// Journal and machine of the agent that last served a node, or the master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMachine {
    pub uid: AgentUid,
    pub journal_id: Option<String>,
    pub machine_id: Option<String>,
}
