//! Stored plans.

use crate::{ClusterId, DocumentId, GraphType, Json, Micros, PlanId};

/// A plan without its large parts: the document and the input digests. Immutable.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRecord {
    pub id: PlanId,
    pub cluster_id: ClusterId,
    pub graph_type: GraphType,
    /// The plan that is applied before this one: of the previous graph of a sequence, or of the removal of nodes.
    pub parent_id: Option<PlanId>,
    pub created_at: Micros,
    /// User name.
    pub created_by: String,
    /// The planning request.
    pub request: Json,
    pub n_run: i64,
    pub n_skip: i64,
    /// The merged graph: fields by task.
    pub graph_id: DocumentId,
    /// The document common to all nodes.
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
    /// Digests of all inputs of the plan.
    pub inputs: Json,
    pub graph_id: DocumentId,
    pub common_id: DocumentId,
    /// Per-node documents, by node UID.
    pub nodes: Vec<(String, DocumentId)>,
    /// The encoded plan.
    pub document: Vec<u8>,
}
