//! Response types of the plugin order.

use serde::Serialize;
use stoker_model::Json;
use stoker_registry::stages::{OrderNote, OrderedTask, StageError, StagePlugin, describe_code};
use utoipa::ToSchema;

/// Stage tasks of plugins in execution order.
#[derive(Serialize, ToSchema)]
#[schema(as = PluginOrder)]
pub(super) struct OrderView {
    /// Tasks in execution order.
    pub(super) tasks: Vec<TaskView>,
    /// Notes about the order, such as ties.
    pub(super) notes: Vec<NoteView>,
    /// Plugins and tasks that cannot be ordered.
    pub(super) errors: Vec<ErrorView>,
}

/// Stage task with its position in the order.
#[derive(Serialize, ToSchema)]
#[schema(as = OrderedTask)]
pub(super) struct TaskView {
    /// Position in the order, starting at 1.
    position: usize,
    /// Name of the plugin.
    #[schema(example = "gridnet")]
    plugin: String,
    /// Version of the plugin.
    version: String,
    /// Name of the task in the merged graph.
    #[schema(example = "gridnet-pre_deployment-100-1")]
    id: String,
    /// Position in the file of the plugin, starting at 0. Tasks of its graph are counted after those of
    /// `tasks`.
    index: usize,
    /// Task type.
    #[schema(example = "shell")]
    r#type: Option<String>,
    /// Stage: `pre_deployment` or `post_deployment`.
    #[schema(example = "pre_deployment")]
    stage: &'static str,
    /// Number within the stage (default 0).
    #[schema(example = 100.0)]
    number: f64,
    /// Conventional purpose of the number: `first`, `hardware`, `disks`, `network`, `software`, `monitoring`,
    /// `reserved` or `unassigned`.
    #[schema(example = "hardware")]
    range: &'static str,
    /// Whether another plugin uses the same number in this stage, so that the plugin names decide the order.
    tie: bool,
}

impl TaskView {
    pub(super) fn new(
        position: usize,
        id: String,
        task: &OrderedTask<'_>,
        plugins: &[StagePlugin<'_>],
        notes: &[OrderNote<'_>],
    ) -> Self {
        let plugin = &plugins[task.plugin_idx];
        let file_type = plugin.tasks.get(task.task_idx).and_then(|task| task.get("type"));
        let graph_type =
            || plugin.graph_tasks.get(task.task_idx.checked_sub(plugin.tasks.len())?)?.field("type");
        let task_type = file_type.or_else(graph_type).and_then(Json::as_str);
        let is_tie = |note: &OrderNote<'_>| matches!(note, OrderNote::Tie { stage, .. } if *stage == task.stage);
        Self {
            position,
            plugin: plugin.name.to_owned(),
            version: plugin.version.to_owned(),
            id,
            index: task.task_idx,
            r#type: task_type.map(str::to_owned),
            stage: task.stage.name.as_str(),
            number: task.stage.number(),
            range: task.range().as_str(),
            tie: notes.iter().any(is_tie),
        }
    }
}

/// Note about the order.
#[derive(Serialize, ToSchema)]
#[schema(as = OrderNote)]
pub(super) struct NoteView {
    /// Kind of note: `tie` or `reserved`.
    #[schema(example = "tie")]
    kind: &'static str,
    /// Stage and number.
    #[schema(example = "pre_deployment/100")]
    stage: String,
    /// Plugins in execution order.
    plugins: Vec<String>,
    /// Human-readable message.
    message: String,
}

impl From<&OrderNote<'_>> for NoteView {
    fn from(note: &OrderNote<'_>) -> Self {
        match note {
            OrderNote::Tie { stage, plugins } => Self {
                kind: "tie",
                stage: stage.to_string(),
                message: format!(
                    "{} have the same number at `{stage}` and are ordered by name",
                    plugins.join(", ")
                ),
                plugins: plugins.iter().map(|plugin| (*plugin).to_owned()).collect(),
            },
            OrderNote::Reserved { stage, plugin } => Self {
                kind: "reserved",
                stage: stage.to_string(),
                message: format!("`{stage}` of {plugin} is in a reserved range"),
                plugins: vec![(*plugin).to_owned()],
            },
        }
    }
}

/// Plugin or task that cannot be ordered.
#[derive(Serialize, ToSchema)]
#[schema(as = OrderError)]
pub(super) struct ErrorView {
    /// Name of the plugin.
    #[schema(example = "gridnet")]
    plugin: String,
    /// Position in the file of the plugin, starting at 0. Null if the error is about the plugin.
    task: Option<usize>,
    /// Error code.
    #[schema(example = "stage_bad_postfix")]
    code: &'static str,
    /// Human-readable message.
    message: String,
}

impl From<StageError> for ErrorView {
    fn from(error: StageError) -> Self {
        let message = match error.task_idx {
            Some(task_idx) => {
                format!("stage task {} of plugin `{}`: {}", task_idx + 1, error.plugin, describe_code(error.code))
            }
            None => format!("plugin `{}`: {}", error.plugin, describe_code(error.code)),
        };
        Self { plugin: error.plugin, task: error.task_idx, code: error.code, message }
    }
}
