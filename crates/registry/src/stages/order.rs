//! One sequence for the tasks of all plugins.

use std::collections::BTreeMap;

use stoker_model::{Json, Task};

use super::range::NumberRange;
use super::stage::{Stage, codes};

/// A plugin as far as its stage tasks go.
#[derive(Clone, Copy, Debug)]
pub struct StagePlugin<'a> {
    pub name: &'a str,
    pub version: &'a str,
    pub package_version: &'a str,
    /// Those of `tasks.yaml`, in the order of the file.
    pub tasks: &'a [Json],
    /// Those of its graph that have a stage; they come after the others.
    pub graph_tasks: &'a [&'a Task],
}

impl<'a> StagePlugin<'a> {
    /// Every task's field `stage`, in the order of the files.
    fn stages(&self) -> impl Iterator<Item = Option<&'a Json>> {
        let of_files = self.tasks.iter().map(|task| task.get("stage"));
        of_files.chain(self.graph_tasks.iter().map(|task| task.field("stage")))
    }
}

/// A task in the sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderedTask<'a> {
    pub plugin: &'a str,
    /// Which plugin of the input, and which of its tasks: those of its graph are counted after the others.
    pub plugin_idx: usize,
    pub task_idx: usize,
    pub stage: Stage,
}

impl OrderedTask<'_> {
    pub fn range(&self) -> NumberRange {
        NumberRange::of(self.stage.number())
    }
}

/// Why there is no sequence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StageError {
    pub plugin: String,
    /// `None` when it is about the plugin.
    pub task_idx: Option<usize>,
    /// One of [`codes`].
    pub code: &'static str,
}

/// Orders the tasks of all plugins: by stage, by number, by name of the plugin, by position in its file. In which
/// order the plugins are given does not matter. Every task that cannot be placed is reported.
pub fn order<'a>(plugins: &[StagePlugin<'a>]) -> Result<Vec<OrderedTask<'a>>, Vec<StageError>> {
    let twice = plugins_given_twice(plugins);
    if !twice.is_empty() {
        return Err(twice);
    }
    let (mut ordered, mut errors) = (Vec::new(), Vec::new());
    for (plugin_idx, plugin) in plugins.iter().enumerate() {
        for (task_idx, field) in plugin.stages().enumerate() {
            match Stage::of_field(field, plugin.package_version) {
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

fn plugins_given_twice(plugins: &[StagePlugin<'_>]) -> Vec<StageError> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for plugin in plugins {
        *counts.entry(plugin.name).or_default() += 1;
    }
    let twice = counts.into_iter().filter(|(_, count)| *count > 1);
    let error =
        |name: &str| StageError { plugin: name.to_owned(), task_idx: None, code: codes::DUPLICATE_PLUGIN };
    twice.map(|(name, _)| error(name)).collect()
}
