//! Plugin stage tasks in the merged graph of a cluster.
//!
//! Stage tasks cannot be disabled. The caller merges the layers of a cluster without them, passes the result
//! in, and gets replacement layers for the plugins with stage tasks.

use std::collections::BTreeSet;

use stoker_diagnostics::{Diagnostic, ProblemOrigin};
use stoker_graph::{MergedGraph, Source, codes, plugin_tasks};
use stoker_model::{GraphType, Plugin, Task};

use super::adapt::{CoreTasks, graph_tasks};
use super::order::{StageError, StagePlugin, order_tasks};
use super::stage::describe_code;

/// Enabled plugin with the tasks of its graph.
#[derive(Clone, Copy, Debug)]
pub struct PluginGraph<'a> {
    pub plugin: &'a Plugin,
    pub tasks: &'a [Task],
    /// Directory of the plugin's scripts on nodes, if it has scripts.
    pub scripts: Option<&'a str>,
}

/// Replacement layers and problems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageLayers {
    /// For each plugin, all its tasks including stage tasks; `None` if unchanged.
    pub tasks: Vec<Option<Vec<Task>>>,
    /// Problems of plugins with invalid stages; their stage tasks are omitted.
    pub findings: Vec<Diagnostic>,
}

/// Reports whether graphs of this type have stages; only the deployment graph does.
pub fn has_stages(graph_type: &GraphType) -> bool {
    *graph_type == GraphType::default()
}

/// Inserts the stage tasks of all plugins into a merged graph, between the end of their stage and the next
/// stage, ordered by number. `core` is the graph merged without them.
pub fn stage_layers(core: &MergedGraph<'_>, plugins: &[PluginGraph<'_>]) -> StageLayers {
    let mut layers = StageLayers { tasks: vec![None; plugins.len()], findings: Vec::new() };
    let graph_tasks_by_plugin: Vec<Vec<&Task>> = plugins.iter().map(|plugin| staged(plugin.tasks)).collect();
    let stage_plugins: Vec<StagePlugin<'_>> = plugins
        .iter()
        .zip(&graph_tasks_by_plugin)
        .map(|(plugin, tasks)| stage_plugin(plugin.plugin, tasks))
        .collect();
    let valid: Vec<StagePlugin<'_>> = stage_plugins
        .iter()
        .filter(|plugin| match order_tasks(&[**plugin]) {
            Ok(ordered) => !ordered.is_empty(),
            Err(errors) => {
                layers.findings.extend(errors.iter().map(|error| finding(plugin, error)));
                false
            }
        })
        .copied()
        .collect();
    if valid.is_empty() {
        return layers;
    }
    let core_tasks = CoreTasks::of_merged(core);
    let new_layers = match graph_tasks(&valid, &core_tasks) {
        Ok(new_layers) => new_layers,
        Err(errors) => {
            let plugin_of =
                |error: &StageError| valid.iter().find(|plugin| plugin.name == error.plugin).copied();
            layers
                .findings
                .extend(errors.iter().filter_map(|error| Some(finding(&plugin_of(error)?, error))));
            return layers;
        }
    };
    for layer in new_layers {
        let Some(plugin_idx) = stage_plugins.iter().position(|plugin| plugin.name == layer.plugin) else {
            continue;
        };
        let PluginGraph { plugin, tasks, scripts } = plugins[plugin_idx];
        let stage_tasks = plugin_tasks(plugin, scripts, layer.tasks.iter());
        let replaced: BTreeSet<&str> = stage_tasks.iter().map(|task| task.name.as_str()).collect();
        let others: Vec<Task> =
            tasks.iter().filter(|task| !replaced.contains(task.name.as_str())).cloned().collect();
        layers.tasks[plugin_idx] = Some(others.into_iter().chain(stage_tasks).collect());
    }
    layers
}

/// Returns the graph tasks with a stage.
fn staged(tasks: &[Task]) -> Vec<&Task> {
    tasks.iter().filter(|task| task.field("stage").is_some_and(|stage| !stage.is_null())).collect()
}

fn stage_plugin<'a>(plugin: &'a Plugin, graph_tasks: &'a [&'a Task]) -> StagePlugin<'a> {
    StagePlugin {
        name: &plugin.body.name,
        version: &plugin.body.version,
        package_version: &plugin.body.package_version,
        tasks: &plugin.body.tasks,
        graph_tasks,
    }
}

fn finding(plugin: &StagePlugin<'_>, error: &StageError) -> Diagnostic {
    let graph_task = |task_idx: usize| plugin.graph_tasks.get(task_idx.checked_sub(plugin.tasks.len())?);
    let task = error.task_idx.and_then(graph_task);
    let subject = match error.task_idx {
        Some(task_idx) if task.is_none() => {
            format!("stage task {} of plugin `{}`", task_idx + 1, plugin.name)
        }
        _ => format!("plugin `{}`", plugin.name),
    };
    let message = format!("cannot order {subject}: {}", describe_code(error.code));
    let help = "use `pre_deployment` or `post_deployment`, optionally with a number: `post_deployment/100`; until this \
                is fixed, all stage tasks of the plugin are omitted";
    let layer = Source::Plugin { name: plugin.name.to_owned(), version: plugin.version.to_owned() }.label();
    let provenance = ProblemOrigin { layer: Some(layer), ..ProblemOrigin::default() };
    let finding = Diagnostic::error(codes::PLUGIN_STAGE, message).help(help).provenance(Some(provenance));
    match task {
        Some(task) => finding.task(&task.name, "stage"),
        None => finding,
    }
}
