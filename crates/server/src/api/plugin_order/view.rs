//! How the order is shown.

use serde::Serialize;
use stoker_model::Json;
use stoker_registry::stages::{Note, OrderedTask, StageError, StagePlugin, meaning};
use utoipa::ToSchema;

/// Stage tasks of plugins in the order in which they run.
#[derive(Serialize, ToSchema)]
#[schema(as = PluginOrder)]
pub(super) struct OrderView {
    pub(super) tasks: Vec<TaskView>,
    /// What is worth knowing about the order.
    pub(super) notes: Vec<NoteView>,
    /// Tasks without a place.
    pub(super) errors: Vec<ErrorView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = OrderedTask)]
pub(super) struct TaskView {
    /// From 1.
    position: usize,
    #[schema(example = "gridnet")]
    plugin: String,
    version: String,
    /// Its name in the merged graph.
    #[schema(example = "gridnet-pre_deployment-100-1")]
    id: String,
    /// Its position in the plugin's file from 0; tasks of its graph are counted after those of `tasks`.
    index: usize,
    #[schema(example = "shell")]
    r#type: Option<String>,
    /// `pre_deployment` or `post_deployment`.
    #[schema(example = "pre_deployment")]
    stage: &'static str,
    /// 0 if none is written.
    #[schema(example = 100.0)]
    number: f64,
    /// What such numbers are for, by convention: `first`, `hardware`, `disks`, `network`, `software`, `monitoring`,
    /// `reserved` or `unassigned`.
    #[schema(example = "hardware")]
    range: &'static str,
    /// Whether another plugin has the same number in this stage, so that names decide.
    tie: bool,
}

impl TaskView {
    pub(super) fn new(
        position: usize,
        id: String,
        task: &OrderedTask<'_>,
        plugins: &[StagePlugin<'_>],
        notes: &[Note<'_>],
    ) -> Self {
        let plugin = &plugins[task.plugin_idx];
        let of_file = plugin.tasks.get(task.task_idx).and_then(|task| task.get("type"));
        let of_graph =
            || plugin.graph_tasks.get(task.task_idx.checked_sub(plugin.tasks.len())?)?.field("type");
        let kind = of_file.or_else(of_graph).and_then(Json::as_str);
        let is_tie = |note: &Note<'_>| matches!(note, Note::Tie { stage, .. } if *stage == task.stage);
        Self {
            position,
            plugin: plugin.name.to_owned(),
            version: plugin.version.to_owned(),
            id,
            index: task.task_idx,
            r#type: kind.map(str::to_owned),
            stage: task.stage.name.as_str(),
            number: task.stage.number(),
            range: task.range().as_str(),
            tie: notes.iter().any(is_tie),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = OrderNote)]
pub(super) struct NoteView {
    /// `tie` or `reserved`.
    #[schema(example = "tie")]
    kind: &'static str,
    #[schema(example = "pre_deployment/100")]
    stage: String,
    /// In the order in which they run.
    plugins: Vec<String>,
    message: String,
}

impl From<&Note<'_>> for NoteView {
    fn from(note: &Note<'_>) -> Self {
        match note {
            Note::Tie { stage, plugins } => Self {
                kind: "tie",
                stage: stage.to_string(),
                message: format!(
                    "{} have the same number at `{stage}`: their names decide",
                    plugins.join(", ")
                ),
                plugins: plugins.iter().map(|plugin| (*plugin).to_owned()).collect(),
            },
            Note::Reserved { stage, plugin } => Self {
                kind: "reserved",
                stage: stage.to_string(),
                message: format!("`{stage}` of {plugin} is in a range that is kept free"),
                plugins: vec![(*plugin).to_owned()],
            },
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = OrderError)]
pub(super) struct ErrorView {
    #[schema(example = "gridnet")]
    plugin: String,
    /// Position in the plugin's file from 0; null: it is about the plugin.
    task: Option<usize>,
    #[schema(example = "stage_bad_postfix")]
    code: &'static str,
    message: String,
}

impl From<StageError> for ErrorView {
    fn from(error: StageError) -> Self {
        let message = match error.task_idx {
            Some(task_idx) => {
                format!("stage task {} of plugin `{}`: {}", task_idx + 1, error.plugin, meaning(error.code))
            }
            None => format!("plugin `{}`: {}", error.plugin, meaning(error.code)),
        };
        Self { plugin: error.plugin, task: error.task_idx, code: error.code, message }
    }
}
