//! Sequences.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// List of graphs that run one after another.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Sequence)]
pub struct SequenceView {
    /// ID of the sequence.
    #[schema(example = 3)]
    pub id: i64,
    /// Name of the sequence.
    #[schema(example = "deploy-changes")]
    pub name: String,
    /// ID of the release.
    #[schema(example = 1)]
    pub release_id: i64,
    /// Graphs in execution order.
    pub graphs: Vec<SequenceGraphView>,
}

/// Graph of a sequence, optionally limited to nodes and tasks.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = SequenceGraph)]
pub struct SequenceGraphView {
    /// Graph type.
    #[serde(rename = "type")]
    #[schema(example = "provision", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
    pub graph_type: String,
    /// IDs of the nodes to run on (default: all).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub nodes: Option<Vec<i64>>,
    /// Tasks to run (default: all).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tasks: Option<Vec<String>>,
}
