//! Stage tasks of plugins in the merged graph of a cluster.
//!
//! They are always part of it: no setting switches them off. Whoever merges the layers of a cluster gives the graph
//! without them and gets, for each plugin, the layer that takes part in the merge instead.

use std::collections::BTreeSet;

use stoker_graph::{Finding, Merged, Severity, Source, codes, plugin_tasks};
use stoker_model::{GraphType, Plugin, Task};

use super::adapt::{CoreTasks, graph_tasks};
use super::order::{StageError, StagePlugin, order};
use super::stage::meaning;

/// An enabled plugin and the tasks of its graph as they take part in a merge.
#[derive(Clone, Copy, Debug)]
pub struct PluginGraph<'a> {
    pub plugin: &'a Plugin,
    pub tasks: &'a [Task],
}

/// What stage tasks make of a merge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageLayers {
    /// Beside each plugin all its tasks, stage tasks included; none: they are what they were.
    pub tasks: Vec<Option<Vec<Task>>>,
    /// Plugins whose stage tasks cannot be placed, which are then left out.
    pub findings: Vec<Finding>,
}

/// Whether graphs of this type have stages: plugins hang their tasks into the deployment and nothing else.
pub fn has_stages(graph_type: &GraphType) -> bool {
    *graph_type == GraphType::default()
}

/// Hangs the stage tasks of all plugins into a merged graph: behind the end of their stage and before whatever comes
/// next, in the order of the numbers. `core` is everything merged without them; `scripts_root` is where scripts of
/// plugins are on nodes.
pub fn stage_layers(core: &Merged<'_>, plugins: &[PluginGraph<'_>], scripts_root: &str) -> StageLayers {
    let mut layers = StageLayers { tasks: vec![None; plugins.len()], findings: Vec::new() };
    let of_graphs: Vec<Vec<&Task>> = plugins.iter().map(|plugin| staged(plugin.tasks)).collect();
    let all: Vec<StagePlugin<'_>> =
        plugins.iter().zip(&of_graphs).map(|(plugin, tasks)| stage_plugin(plugin.plugin, tasks)).collect();
    let sound: Vec<StagePlugin<'_>> = all
        .iter()
        .filter(|plugin| match order(&[**plugin]) {
            Ok(ordered) => !ordered.is_empty(),
            Err(errors) => {
                layers.findings.extend(errors.iter().map(|error| finding(plugin, error)));
                false
            }
        })
        .copied()
        .collect();
    if sound.is_empty() {
        return layers;
    }
    let core_tasks = CoreTasks::of_merged(core);
    let made = match graph_tasks(&sound, &core_tasks) {
        Ok(made) => made,
        Err(errors) => {
            let named = |error: &StageError| sound.iter().find(|plugin| plugin.name == error.plugin).copied();
            layers.findings.extend(errors.iter().filter_map(|error| Some(finding(&named(error)?, error))));
            return layers;
        }
    };
    for layer in made {
        let Some(plugin_idx) = all.iter().position(|plugin| plugin.name == layer.plugin) else { continue };
        let PluginGraph { plugin, tasks } = plugins[plugin_idx];
        let own = plugin_tasks(plugin, scripts_root, layer.tasks.iter());
        let replaced: BTreeSet<&str> = own.iter().map(|task| task.name.as_str()).collect();
        let kept: Vec<Task> =
            tasks.iter().filter(|task| !replaced.contains(task.name.as_str())).cloned().collect();
        layers.tasks[plugin_idx] = Some(kept.into_iter().chain(own).collect());
    }
    layers
}

/// Tasks of a graph that say when they run by a stage.
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

fn finding(plugin: &StagePlugin<'_>, error: &StageError) -> Finding {
    let of_graph = |task_idx: usize| plugin.graph_tasks.get(task_idx.checked_sub(plugin.tasks.len())?);
    let task = error.task_idx.and_then(of_graph).map(|task| task.name.clone());
    let place = match error.task_idx {
        Some(task_idx) if task.is_none() => {
            format!("stage task {} of plugin `{}`", task_idx + 1, plugin.name)
        }
        _ => format!("plugin `{}`", plugin.name),
    };
    Finding {
        severity: Severity::Error,
        code: codes::PLUGIN_STAGE,
        path: if task.is_some() { "stage".to_owned() } else { String::new() },
        task,
        message: format!("{place} has no place in the order: {}", meaning(error.code)),
        help: Some(
            "a stage is `pre_deployment` or `post_deployment`, with a number behind it if wanted: \
             `post_deployment/100`; until then none of the plugin's stage tasks take part"
                .to_owned(),
        ),
        source: Some(Source::Plugin { name: plugin.name.to_owned(), version: plugin.version.to_owned() }),
    }
}
