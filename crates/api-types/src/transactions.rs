//! Runs in the Fuel-compatible API, which calls them transactions.

use serde::{Deserialize, Serialize};
use stoker_model::{Json, JsonMap};
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
    /// How the run ended: `succeeded`, `partial` (some nodes were offline and left out), `failed` or `stopped`. Null
    /// while it is active.
    #[serde(default)]
    #[schema(example = "succeeded")]
    pub outcome: Option<String>,
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
    /// What the task instances did to their hosts. Null in lists and while the run is active.
    #[serde(default)]
    pub effects: Option<EffectsView>,
}

/// Number of ended task instances by their effect on the host. In a dry run: by the effect that they would have.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[schema(as = Effects)]
pub struct EffectsView {
    /// Task instances that changed something.
    #[schema(example = 3)]
    pub changed: u64,
    /// Task instances that had nothing to change.
    #[schema(example = 40)]
    pub unchanged: u64,
    /// Task instances whose type cannot tell, such as `shell`.
    #[schema(example = 2)]
    pub unknown: u64,
}

/// Difference between the state of a host and its desired state. Short values have `old` and `new`, texts a
/// unified diff.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[schema(as = HostDifference)]
pub struct DifferenceView {
    /// What differs, such as the path of a file.
    #[schema(example = "/etc/nginx/nginx.conf")]
    pub subject: String,
    /// Attribute of the subject.
    #[schema(example = "mode")]
    pub attribute: String,
    /// Value on the host before; null if it was absent.
    #[serde(default)]
    pub old: Option<String>,
    /// Desired value; null if it is absent.
    #[serde(default)]
    pub new: Option<String>,
    /// Unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Result of a task instance. Further fields are those of the task as it was executed, and those that the
/// executor reported.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = HistoryRecord)]
pub struct HistoryView {
    /// Name of the task.
    #[schema(example = "hello")]
    pub task_name: String,
    /// Same as `task_name`, for older clients.
    pub deployment_graph_task_name: String,
    /// UID of the node: `"7"`, `"master"`, or `"-"` for a task without a node.
    #[schema(example = "7")]
    pub node_id: String,
    /// Status: `pending`, `running`, `ready`, `error` or `skipped`.
    #[schema(example = "ready")]
    pub status: String,
    /// Start time.
    pub time_start: Option<String>,
    /// End time.
    pub time_end: Option<String>,
    /// Summary that the executor reported. Only with `include_summary`.
    #[serde(default)]
    #[schema(required = false, value_type = Object)]
    pub summary: JsonMap,
    /// Whether the attempt changed the host, or in noop mode would change it; null if the task type cannot tell.
    #[serde(default)]
    pub changed: Option<bool>,
    /// What changed on the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub diff: Vec<DifferenceView>,
    /// Reason of the failure.
    #[schema(ignore)]
    pub reason: Option<String>,
    /// Outcome as determined by the engine, such as `stopped`.
    #[schema(ignore)]
    pub outcome: Option<String>,
    /// Whether the failure is ignored.
    #[serde(default)]
    #[schema(ignore)]
    pub is_ignored: bool,
}
