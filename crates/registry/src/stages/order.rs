//! Total order over the stage tasks of all plugins.

use std::collections::BTreeMap;

use stoker_model::{Json, Task};

use super::range::NumberRange;
use super::stage::{Stage, codes};

/// Stage tasks of a plugin.
#[derive(Clone, Copy, Debug)]
pub struct StagePlugin<'a> {
    pub name: &'a str,
    pub version: &'a str,
    pub package_version: &'a str,
    /// Tasks of `tasks.yaml`, in file order.
    pub tasks: &'a [Json],
    /// Tasks of the graph of the plugin that have a stage; ordered after those of `tasks.yaml`.
    pub graph_tasks: &'a [&'a Task],
}

impl<'a> StagePlugin<'a> {
    /// Returns the `stage` field of every task, in file order.
    fn stages(&self) -> impl Iterator<Item = Option<&'a Json>> {
        let file_stages = self.tasks.iter().map(|task| task.get("stage"));
        file_stages.chain(self.graph_tasks.iter().map(|task| task.field("stage")))
    }
}

/// A task with its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderedTask<'a> {
    pub plugin: &'a str,
    /// Indexes of the plugin and of its task; graph tasks are numbered after those of `tasks.yaml`.
    pub plugin_idx: usize,
    pub task_idx: usize,
    pub stage: Stage,
}

impl OrderedTask<'_> {
    pub fn range(&self) -> NumberRange {
        NumberRange::for_number(self.stage.number())
    }
}

/// Error while ordering the stage tasks of plugins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StageError {
    pub plugin: String,
    /// Index of the task; `None` if the problem concerns the plugin.
    pub task_idx: Option<usize>,
    /// Diagnostic code, one of [`codes`].
    pub code: &'static str,
}

/// Orders the tasks of all plugins by stage, number, plugin name and position in the file. The result does
/// not depend on the order of the input. All invalid tasks are reported.
pub fn order_tasks<'a>(plugins: &[StagePlugin<'a>]) -> Result<Vec<OrderedTask<'a>>, Vec<StageError>> {
    let duplicates = duplicate_plugins(plugins);
    if !duplicates.is_empty() {
        return Err(duplicates);
    }
    let (mut ordered, mut errors) = (Vec::new(), Vec::new());
    for (plugin_idx, plugin) in plugins.iter().enumerate() {
        for (task_idx, field) in plugin.stages().enumerate() {
            match Stage::parse_field(field, plugin.package_version) {
                Ok(stage) => ordered.push(OrderedTask { plugin: plugin.name, plugin_idx, task_idx, stage }),
                Err(code) => {
                    let plugin = plugin.name.to_owned();
                    errors.push(StageError { plugin, task_idx: Some(task_idx), code });
                }
            }
        }
    }
    if !errors.is_empty() {
        errors.sort();
        return Err(errors);
    }
    let by_name = |a: &OrderedTask<'_>, b: &OrderedTask<'_>| {
        a.stage.compare(b.stage).then_with(|| (a.plugin, a.task_idx).cmp(&(b.plugin, b.task_idx)))
    };
    ordered.sort_by(by_name);
    Ok(ordered)
}

fn duplicate_plugins(plugins: &[StagePlugin<'_>]) -> Vec<StageError> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for plugin in plugins {
        *counts.entry(plugin.name).or_default() += 1;
    }
    let duplicates = counts.into_iter().filter(|(_, count)| *count > 1);
    let error =
        |name: &str| StageError { plugin: name.to_owned(), task_idx: None, code: codes::DUPLICATE_PLUGIN };
    duplicates.map(|(name, _)| error(name)).collect()
}
