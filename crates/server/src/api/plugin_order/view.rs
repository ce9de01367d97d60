//! Response types of the plugin order.

use stoker_api_types::plugin_order::{ErrorView, NoteView, TaskView};
use stoker_model::Json;
use stoker_registry::stages::{OrderNote, OrderedTask, StageError, StagePlugin, describe_code};

pub(super) fn render_task(
    position: usize,
    id: String,
    task: &OrderedTask<'_>,
    plugins: &[StagePlugin<'_>],
    notes: &[OrderNote<'_>],
) -> TaskView {
    let plugin = &plugins[task.plugin_idx];
    let file_type = plugin.tasks.get(task.task_idx).and_then(|task| task.get("type"));
    let graph_type = || plugin.graph_tasks.get(task.task_idx.checked_sub(plugin.tasks.len())?)?.field("type");
    let task_type = file_type.or_else(graph_type).and_then(Json::as_str);
    let is_tie = |note: &OrderNote<'_>| matches!(note, OrderNote::Tie { stage, .. } if *stage == task.stage);
    TaskView {
        position,
        plugin: plugin.name.to_owned(),
        version: plugin.version.to_owned(),
        id,
        index: task.task_idx,
        r#type: task_type.map(str::to_owned),
        stage: task.stage.name.as_str().to_owned(),
        number: task.stage.number(),
        range: task.range().as_str().to_owned(),
        tie: notes.iter().any(is_tie),
    }
}

pub(super) fn render_note(note: &OrderNote<'_>) -> NoteView {
    match note {
        OrderNote::Tie { stage, plugins } => NoteView {
            kind: "tie".to_owned(),
            stage: stage.to_string(),
            message: format!(
                "{} have the same number at `{stage}` and are ordered by name",
                plugins.join(", ")
            ),
            plugins: plugins.iter().map(|plugin| (*plugin).to_owned()).collect(),
        },
        OrderNote::Reserved { stage, plugin } => NoteView {
            kind: "reserved".to_owned(),
            stage: stage.to_string(),
            message: format!("`{stage}` of {plugin} is in a reserved range"),
            plugins: vec![(*plugin).to_owned()],
        },
    }
}

pub(super) fn render_error(error: StageError) -> ErrorView {
    let message = match error.task_idx {
        Some(task_idx) => {
            format!("stage task {} of plugin `{}`: {}", task_idx + 1, error.plugin, describe_code(error.code))
        }
        None => format!("plugin `{}`: {}", error.plugin, describe_code(error.code)),
    };
    ErrorView { plugin: error.plugin, task: error.task_idx, code: error.code.to_owned(), message }
}
