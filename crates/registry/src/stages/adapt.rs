//! Conversion of ordered stage tasks to tasks of the deployment graph.
//!
//! The graph of a release marks the end of a stage with a task `<stage>_end`. Plugin tasks are inserted
//! between this task and the next stage, one after another, each waiting for the previous one on all nodes.
//! Each task is followed by a *marker* of type `stage`, which is not executed:
//!
//! ```text
//! pre_deployment_end ─▶ marker 0 ─▶ marker 1 ─▶ … ─▶ deploy_start
//!                  ╲     ↗   ╲       ↗
//!                   task 0    task 1
//! ```
//!
//! Markers preserve the order if a task runs on no node, and n nodes after m nodes need n + m dependencies
//! instead of n × m.
//!
//! The ID of a task does not depend on other plugins, nor on tasks of its own plugin with other numbers; see
//! [`task_id`].
//!
//! Tasks of `tasks.yaml` are ordered by their stage only; their other ordering fields were never evaluated
//! (some require the end of the stage they follow). Tasks of a graph keep their dependencies, except that
//! they cannot precede the end of their own stage.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stoker_graph::MergedGraph;
use stoker_model::{Json, JsonMap, Task, canonical_field};

use super::order::{OrderedTask, StageError, StagePlugin, order_tasks};
use super::stage::{Stage, StageName, is_first_package_version};
use crate::build::{list, map, text};

/// Tasks of the merged graph without plugin stage tasks, into which those are inserted.
#[derive(Clone, Debug, Default)]
pub struct CoreTasks {
    names: BTreeSet<String>,
    /// Stage tasks that depend on the end of a stage.
    after_end: BTreeMap<StageName, BTreeSet<String>>,
}

impl CoreTasks {
    /// Collects the tasks of a graph. Computed dependencies are unknown and ignored.
    pub fn new<'t>(tasks: impl Iterator<Item = &'t Task>) -> Self {
        let mut core = Self::default();
        for task in tasks {
            core.add(&task.name, &|field| task.field(field));
        }
        core
    }

    /// Collects the tasks of a merged graph without copying them.
    pub fn of_merged(merged: &MergedGraph<'_>) -> Self {
        let mut core = Self::default();
        for task in &merged.tasks {
            core.add(task.name, &|field| task.value(field));
        }
        core
    }

    fn add<'t>(&mut self, name: &str, field: &dyn Fn(&str) -> Option<&'t Json>) {
        self.names.insert(name.to_owned());
        let is_stage = field("type").and_then(Json::as_str) == Some("stage");
        for stage in StageName::ALL {
            let end = end_of(*stage);
            if is_stage && names_in(field("requires")).any(|name| name == end) {
                self.after_end.entry(*stage).or_default().insert(name.to_owned());
            }
            if name == end {
                let next = names_in(field("required_for")).map(str::to_owned);
                self.after_end.entry(*stage).or_default().extend(next);
            }
        }
    }

    /// Returns the stages without an end task in the graph. The start of their plugin tasks is not ordered.
    pub fn stages_without_end(&self) -> Vec<StageName> {
        let has_no_end = |stage: &&StageName| !self.names.contains(&end_of(**stage));
        StageName::ALL.iter().filter(has_no_end).copied().collect()
    }
}

fn end_of(stage: StageName) -> String {
    format!("{}_end", stage.as_str())
}

fn names_in(field: Option<&Json>) -> impl Iterator<Item = &str> {
    field.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

/// Tasks that one plugin adds to the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginLayer<'a> {
    pub plugin: &'a str,
    pub version: &'a str,
    /// Each task followed by its marker, in execution order.
    pub tasks: Vec<Task>,
}

/// Converts the stage tasks of all plugins to graph layers, one per plugin that has any, sorted by name.
///
/// The tasks are otherwise unchanged: `stoker_graph::plugin_tasks` adds the working directory, as for all
/// plugin tasks.
pub fn graph_tasks<'a>(
    plugins: &[StagePlugin<'a>],
    core: &CoreTasks,
) -> Result<Vec<PluginLayer<'a>>, Vec<StageError>> {
    let ordered = order_tasks(plugins)?;
    let ids = task_ids(plugins, &ordered);
    let mut layers: BTreeMap<&str, PluginLayer<'a>> = BTreeMap::new();
    let mut predecessor: Option<String> = None;
    for (idx, (task, id)) in ordered.iter().zip(&ids).enumerate() {
        let stage = task.stage.name;
        let is_first = idx == 0 || ordered[idx - 1].stage.name != stage;
        if is_first && core.names.contains(&end_of(stage)) {
            predecessor = Some(end_of(stage));
        }
        let is_last = ordered.get(idx + 1).is_none_or(|next| next.stage.name != stage);
        let successors = if is_last { core.after_end.get(&stage) } else { None };
        let plugin = &plugins[task.plugin_idx];
        let adapted = adapt(plugin, task, id, predecessor.as_deref());
        let marker = marker_for(&adapted, predecessor.as_deref(), successors);
        predecessor = Some(marker.name.clone());
        let layer = layers.entry(plugin.name).or_insert_with(|| PluginLayer {
            plugin: plugin.name,
            version: plugin.version,
            tasks: Vec::new(),
        });
        layer.tasks.extend([adapted, marker]);
    }
    Ok(layers.into_values().collect())
}

/// Returns the IDs of ordered tasks in the graph. Tasks of a graph keep their IDs. Tasks of `tasks.yaml` get
/// their ID prefixed with the plugin name, or a generated ID.
pub fn task_ids(plugins: &[StagePlugin<'_>], ordered: &[OrderedTask<'_>]) -> Vec<String> {
    let graph_names = plugins.iter().flat_map(|plugin| plugin.graph_tasks).map(|task| task.name.clone());
    let mut used: BTreeSet<String> = graph_names.collect();
    let mut counts: HashMap<(usize, String), usize> = HashMap::new();
    let mut ids = Vec::with_capacity(ordered.len());
    for task in ordered {
        let plugin = &plugins[task.plugin_idx];
        let Some(declaration) = plugin.tasks.get(task.task_idx) else {
            ids.push(plugin.graph_tasks[task.task_idx - plugin.tasks.len()].name.clone());
            continue;
        };
        let id = declaration.get("id").and_then(Json::as_str).filter(|id| !id.is_empty());
        let id = id.map(|id| format!("{}-{id}", plugin.name)).filter(|id| used.insert(id.clone()));
        ids.push(id.unwrap_or_else(|| {
            let count = counts.entry((task.plugin_idx, task.stage.to_string())).or_default();
            loop {
                *count += 1;
                let id = task_id(task.plugin, task.stage, *count);
                if used.insert(id.clone()) {
                    return id;
                }
            }
        }));
    }
    ids
}

/// Returns the generated task ID: `lma-post_deployment-8200-2` is the second task of the plugin `lma` with
/// the number 8200.
///
/// The ID contains neither the plugin version nor an index over all tasks, so that the history of a task is
/// preserved across updates and unrelated changes. In the number, `-` becomes `minus` and `.` becomes `_`,
/// because task IDs consist of letters, digits, `-` and `_`.
pub fn task_id(plugin: &str, stage: Stage, count: usize) -> String {
    let number = stage.number();
    // In plain notation the largest numbers have three hundred digits.
    let is_short = number == 0.0 || (1e-6..1e15).contains(&number.abs());
    let number_text = if is_short { number.to_string() } else { format!("{number:e}") };
    let number_text = number_text.replace('-', "minus").replace('.', "_");
    format!("{plugin}-{}-{number_text}-{count}", stage.name.as_str())
}

/// First task version that supports dependencies across nodes.
const VERSION: &str = "2.0.0";

fn adapt(plugin: &StagePlugin<'_>, task: &OrderedTask<'_>, id: &str, predecessor: Option<&str>) -> Task {
    let mut fields = match plugin.tasks.get(task.task_idx) {
        Some(declaration) => stage_task_fields(declaration),
        None => plugin.graph_tasks[task.task_idx - plugin.tasks.len()].fields.clone(),
    };
    if is_first_package_version(plugin.package_version) {
        add_primary(&mut fields);
    }
    remove_end_dependency(&mut fields, task.stage.name);
    fields.insert("version".to_owned(), text(VERSION));
    fields.entry("fail_on_error").or_insert(Json::Bool(true));
    let diagnostic_name = format!("{}-{}", plugin.name, plugin.version);
    fields.entry("diagnostic_name").or_insert(Json::from(diagnostic_name));
    if let Some(predecessor) = predecessor {
        wait_for(&mut fields, predecessor);
    }
    Task { name: id.to_owned(), fields }
}

/// Fields of tasks in `tasks.yaml` that would conflict with the order by stage.
const ORDERING: &[&str] =
    &["id", "requires", "required_for", "cross_depends", "cross_depended_by", "groups", "tasks"];

fn stage_task_fields(declaration: &Json) -> JsonMap {
    let entries = declaration.as_object().into_iter().flatten();
    let fields = entries.map(|(name, value)| (canonical_field(name), value));
    let included = fields.filter(|(name, _)| !ORDERING.contains(name));
    included.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// Removes dependencies that would place the task before the end of its own stage.
fn remove_end_dependency(fields: &mut JsonMap, stage: StageName) {
    let end = end_of(stage);
    for key in ["required_for", "cross_depended_by"] {
        if let Some(Json::Array(items)) = fields.get_mut(key) {
            items.retain(|item| item.get("name").unwrap_or(item).as_str() != Some(&end));
        }
    }
}

/// Adds the primary controller to the role `controller`, as in packages of version 1.
fn add_primary(fields: &mut JsonMap) {
    if let Some(Json::Array(roles)) = fields.get_mut("roles") {
        let has = |name: &str| roles.iter().any(|role| role.as_str() == Some(name));
        if has("controller") && !has("primary-controller") {
            roles.push(text("primary-controller"));
        }
    }
}

/// Adds a dependency on a task on the sync node. If `cross_depends` is computed as a whole, it cannot be
/// extended; then `requires` is used, which also considers the sync node.
fn wait_for(fields: &mut JsonMap, name: &str) {
    let relation = map([("name", text(name)), ("role", Json::Null)]);
    if !add_to_list(fields, "cross_depends", relation) {
        add_to_list(fields, "requires", text(name));
    }
}

fn add_to_list(fields: &mut JsonMap, key: &str, item: Json) -> bool {
    match fields.get_mut(key) {
        Some(Json::Array(items)) => items.push(item),
        None | Some(Json::Null) => _ = fields.insert(key.to_owned(), list([item])),
        Some(_) => return false,
    }
    true
}

/// Creates the marker of a task: done when the task is done on all its nodes, even if there are none.
fn marker_for(task: &Task, predecessor: Option<&str>, successors: Option<&BTreeSet<String>>) -> Task {
    let mut fields = JsonMap::new();
    fields.insert("version".to_owned(), text(VERSION));
    fields.insert("type".to_owned(), text("stage"));
    if let Some(predecessor) = predecessor {
        fields.insert("requires".to_owned(), list([text(predecessor)]));
    }
    fields.insert("cross_depends".to_owned(), all_nodes_of(task));
    if let Some(successors) = successors.filter(|successors| !successors.is_empty()) {
        fields.insert("required_for".to_owned(), list(successors.iter().map(|name| text(name))));
    }
    Task { name: format!("{}-done", task.name), fields }
}

/// Returns the dependencies on a task on all its nodes. If the nodes are computed or not selected by roles,
/// all nodes are included.
fn all_nodes_of(task: &Task) -> Json {
    let name = ("name", text(&task.name));
    match task.field("roles") {
        Some(roles @ (Json::String(_) | Json::Array(_))) if task.field("tags").is_none() => {
            list([map([name, ("role", roles.clone())])])
        }
        _ => list([map([name.clone(), ("role", text("*"))]), map([name, ("role", text("master"))])]),
    }
}
