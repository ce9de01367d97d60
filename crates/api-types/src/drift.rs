//! Request and response types for drift: checks of nodes and their results.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{identifier, list_of, string_with_length};
use stoker_model::GraphType;
use utoipa::ToSchema;

use crate::readers::read_graph_type;
use crate::request::request;
use crate::transactions::DifferenceView;

/// Check of the nodes of a cluster.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = DriftCheck)]
pub struct DriftCheckView {
    /// ID of the check.
    #[schema(example = 4)]
    pub id: i64,
    /// ID of the cluster.
    #[schema(example = 1)]
    pub cluster: i64,
    /// Graph type whose tasks are checked.
    #[schema(example = "default")]
    pub graph_type: String,
    /// `running`, `ready`, or `error` if the check did not reach all nodes.
    #[schema(example = "ready")]
    pub status: String,
    /// Why the check failed.
    pub message: Option<String>,
    /// User that started the check.
    #[schema(example = "admin")]
    pub created_by: String,
    /// Start time.
    #[schema(example = "2026-01-31T07:00:00.123456")]
    pub started_at: String,
    /// End time.
    pub ended_at: Option<String>,
    /// Number of task instances whose node is in the applied state.
    pub n_in_sync: i64,
    /// Number of task instances whose desired inputs differ from the applied ones.
    pub n_changed: i64,
    /// Number of task instances whose node differs from the applied state.
    pub n_drifted: i64,
    /// Number of task instances whose node could not be compared.
    pub n_unknown: i64,
}

/// Latest result of a check for a task on a node.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = DriftResult)]
pub struct DriftView {
    /// Name of the task.
    #[schema(example = "nginx-config")]
    pub task: String,
    /// UID of the node.
    #[schema(example = "7")]
    pub node: String,
    /// `in_sync`, `changed` (the desired inputs differ from the applied ones), `drifted`, or `unknown`.
    #[schema(example = "drifted")]
    pub status: String,
    /// Whether the next plan repairs the drift.
    pub repairs: bool,
    /// Time of the comparison.
    #[schema(example = "2026-01-31T07:00:00.123456")]
    pub checked_at: String,
    /// Why the status is unknown.
    pub message: Option<String>,
    /// Differences from the node to the applied state, with secrets masked.
    pub diff: Vec<DifferenceView>,
}

request! {
    /// Selection of what to check. All fields are optional.
    pub struct NewDriftCheckBody {
        /// Graph type whose tasks are checked (default `default`).
        #[schema(
            nullable = false,
            example = "default",
            min_length = 1,
            max_length = 255,
            pattern = "^[a-zA-Z0-9_-]+$"
        )]
        #[schema(value_type = Option<String>)]
        graph_type: Option<GraphType> = optional(read_graph_type),
        /// Nodes to check (default: all nodes of the cluster).
        #[schema(nullable = false, example = json!([1, 2]))]
        nodes: Option<Vec<i64>> = optional(list_of(identifier)),
        /// Tasks to check (default: all tasks that describe a state).
        #[schema(nullable = false, example = json!(["nginx-config"]))]
        tasks: Option<Vec<String>> = optional(list_of(string_with_length(1..=255))),
    }
}
