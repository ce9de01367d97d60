//! Transactions.

use serde::{Deserialize, Serialize};
use stoker_model::Json;
use utoipa::ToSchema;

/// State that tasks read. Empty before the run is planned.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = DeploymentInfo)]
pub struct InfoView {
    /// State that all nodes have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    pub common: Option<Json>,
    /// State of each node, by UID.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    pub nodes: Option<Json>,
}

/// Run, or child run that executes one graph.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Transaction)]
pub struct RunView {
    /// ID of the run.
    #[schema(example = 7)]
    pub id: i64,
    /// ID of the cluster. Null if the run has none or the cluster was deleted.
    #[schema(example = 3)]
    pub cluster: Option<i64>,
    /// UUID of the run.
    pub uuid: String,
    /// Name of the operation.
    #[schema(example = "deploy")]
    pub name: String,
    /// Status: `pending`, `running`, `ready` or `error`.
    #[schema(example = "ready")]
    pub status: String,
    /// Progress in percent.
    #[schema(example = 100, minimum = 0, maximum = 100)]
    pub progress: i64,
    /// Human-readable result.
    pub message: Option<String>,
    /// Machine-readable result.
    pub result: Json,
    /// Whether the run only plans and executes nothing.
    pub dry_run: bool,
    /// Whether a user stopped the run before it completed.
    pub stopped: bool,
    /// Graph type; null for a run of several graphs.
    #[schema(example = "default")]
    pub graph_type: Option<String>,
    /// Start time.
    #[schema(example = "2026-01-31T07:00:00.123456")]
    pub time_start: Option<String>,
    /// End time.
    pub time_end: Option<String>,
    /// ID of the parent, if this is a child run.
    pub parent_id: Option<i64>,
}
