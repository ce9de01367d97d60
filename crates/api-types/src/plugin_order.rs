//! Order of the stage tasks of plugins.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Stage tasks of plugins in execution order.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PluginOrder)]
pub struct OrderView {
    /// Tasks in execution order.
    pub tasks: Vec<TaskView>,
    /// Notes about the order, such as ties.
    pub notes: Vec<NoteView>,
    /// Plugins and tasks that cannot be ordered.
    pub errors: Vec<ErrorView>,
}

/// Stage task with its position in the order.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = OrderedTask)]
pub struct TaskView {
    /// Position in the order, starting at 1.
    pub position: usize,
    /// Name of the plugin.
    #[schema(example = "gridnet")]
    pub plugin: String,
    /// Version of the plugin.
    pub version: String,
    /// Name of the task in the merged graph.
    #[schema(example = "gridnet-pre_deployment-100-1")]
    pub id: String,
    /// Position in the file of the plugin, starting at 0. Tasks of its graph are counted after those of
    /// `tasks`.
    pub index: usize,
    /// Task type.
    #[schema(example = "shell")]
    pub r#type: Option<String>,
    /// Stage: `pre_deployment` or `post_deployment`.
    #[schema(example = "pre_deployment")]
    pub stage: String,
    /// Number within the stage (default 0).
    #[schema(example = 100.0)]
    pub number: f64,
    /// Conventional purpose of the number: `first`, `hardware`, `disks`, `network`, `software`, `monitoring`,
    /// `reserved` or `unassigned`.
    #[schema(example = "hardware")]
    pub range: String,
    /// Whether another plugin uses the same number in this stage, so that the plugin names decide the order.
    pub tie: bool,
}

/// Note about the order.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = OrderNote)]
pub struct NoteView {
    /// Kind of note: `tie` or `reserved`.
    #[schema(example = "tie")]
    pub kind: String,
    /// Stage and number.
    #[schema(example = "pre_deployment/100")]
    pub stage: String,
    /// Plugins in execution order.
    pub plugins: Vec<String>,
    /// Human-readable message.
    pub message: String,
}

/// Plugin or task that cannot be ordered.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = OrderError)]
pub struct ErrorView {
    /// Name of the plugin.
    #[schema(example = "gridnet")]
    pub plugin: String,
    /// Position in the file of the plugin, starting at 0. Null if the error is about the plugin.
    pub task: Option<usize>,
    /// Error code.
    #[schema(example = "stage_bad_postfix")]
    pub code: String,
    /// Human-readable message.
    pub message: String,
}
