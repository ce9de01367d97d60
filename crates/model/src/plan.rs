//! A plan as a record, and what is remembered of tasks that succeeded.

use crate::{ClusterId, DocumentId, GraphType, Json, Micros, PlanId, RunId};

/// A plan without what is large about it: its document and the digests of its inputs. It never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRecord {
    pub id: PlanId,
    pub cluster_id: ClusterId,
    pub graph_type: GraphType,
    /// The plan after which this one was made, when several graphs are run one after the other.
    pub parent_id: Option<PlanId>,
    pub created_at: Micros,
    /// The name of the user.
    pub created_by: String,
    /// What was asked for.
    pub request: Json,
    pub n_run: i64,
    pub n_skip: i64,
    /// The merged graph: fields by task.
    pub graph_id: DocumentId,
    /// What all nodes had in common.
    pub common_id: DocumentId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewPlan {
    pub cluster_id: ClusterId,
    pub graph_type: GraphType,
    pub parent_id: Option<PlanId>,
    pub request: Json,
    pub n_run: i64,
    pub n_skip: i64,
    /// Digests of everything it was made from.
    pub inputs: Json,
    pub graph_id: DocumentId,
    pub common_id: DocumentId,
    /// By uid the document that each node had of its own.
    pub nodes: Vec<(String, DocumentId)>,
    /// The plan itself.
    pub document: Vec<u8>,
}

/// That a task succeeded on a node, and with which state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Success {
    pub task_name: String,
    pub node_uid: String,
    pub common_id: DocumentId,
    pub document_id: DocumentId,
    /// The run in which it was; it may be gone.
    pub run_id: Option<RunId>,
}

/// Tasks that last succeeded on a node with the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    pub node_uid: String,
    pub common_id: DocumentId,
    pub document_id: DocumentId,
    /// Their names, in order.
    pub tasks: Vec<String>,
}
