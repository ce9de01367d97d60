//! A sequence of stage tasks as tasks of a graph.
//!
//! The graph of a release marks the end of a stage with a task `<stage>_end`. The tasks of plugins hang between it
//! and whatever stage comes next, one after another, each waiting for all nodes of the one before. Behind each task
//! stands a task of type `stage`, its *mark*, which runs in no place but the plan:
//!
//! ```text
//! pre_deployment_end ─▶ mark 0 ─▶ mark 1 ─▶ … ─▶ deploy_start
//!                  ╲    ↗   ╲     ↗
//!                   task 0   task 1
//! ```
//!
//! So a task that finds no node is stepped over and the order of the others holds, and n nodes after m nodes cost
//! n + m links, not n × m.
//!
//! A task keeps its id however other plugins come and go, and however many tasks its own plugin has for other
//! numbers: see [`task_id`].
//!
//! Tasks of `tasks.yaml` are placed by their stage alone; what else they say about their order (some require the end of
//! the stage they run after) never meant anything. Tasks of a graph keep what they say, except that they cannot
//! come before the end of their own stage.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stoker_graph::Merged;
use stoker_model::{Json, JsonMap, Task, canonical_field};

use super::order::{OrderedTask, StageError, StagePlugin, order};
use super::stage::{Stage, StageName, is_first_package_version};
use crate::build::{list, map, text};

/// The tasks of the graph that the plugins' tasks are hung into: the merged graph without them.
#[derive(Clone, Debug, Default)]
pub struct CoreTasks {
    names: BTreeSet<String>,
    /// From the end of a stage to the stage tasks that wait for it.
    after_end: BTreeMap<StageName, BTreeSet<String>>,
}

impl CoreTasks {
    /// Looks at the tasks of a graph. What is computed is not known here and links nothing.
    pub fn new<'t>(tasks: impl Iterator<Item = &'t Task>) -> Self {
        let mut core = Self::default();
        for task in tasks {
            core.note(&task.name, &|field| task.field(field));
        }
        core
    }

    /// The same for a merged graph, of which no task is copied.
    pub fn of_merged(merged: &Merged<'_>) -> Self {
        let mut core = Self::default();
        for task in &merged.tasks {
            core.note(task.name, &|field| task.value(field));
        }
        core
    }

    fn note<'t>(&mut self, name: &str, field: &dyn Fn(&str) -> Option<&'t Json>) {
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

    /// Stages without an end in the graph: nothing tells when their tasks of plugins may begin.
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

/// What one plugin adds to the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginTasks<'a> {
    pub plugin: &'a str,
    pub version: &'a str,
    /// Each task before its mark, in the order they run.
    pub tasks: Vec<Task>,
}

/// The stage tasks of all plugins as layers of a graph, one for each plugin that has any, by name.
///
/// The tasks are as their plugins wrote them: `stoker_graph::plugin_tasks` adds the folder of the scripts, as for all
/// tasks of plugins.
pub fn graph_tasks<'a>(
    plugins: &[StagePlugin<'a>],
    core: &CoreTasks,
) -> Result<Vec<PluginTasks<'a>>, Vec<StageError>> {
    let ordered = order(plugins)?;
    let ids = task_ids(plugins, &ordered);
    let mut layers: BTreeMap<&str, PluginTasks<'a>> = BTreeMap::new();
    let mut before: Option<String> = None;
    for (place, (task, id)) in ordered.iter().zip(&ids).enumerate() {
        let stage = task.stage.name;
        let is_first = place == 0 || ordered[place - 1].stage.name != stage;
        if is_first && core.names.contains(&end_of(stage)) {
            before = Some(end_of(stage));
        }
        let is_last = ordered.get(place + 1).is_none_or(|next| next.stage.name != stage);
        let after = if is_last { core.after_end.get(&stage) } else { None };
        let plugin = &plugins[task.plugin_idx];
        let adapted = adapt(plugin, task, id, before.as_deref());
        let mark = mark_of(&adapted, before.as_deref(), after);
        before = Some(mark.name.clone());
        let layer = layers.entry(plugin.name).or_insert_with(|| PluginTasks {
            plugin: plugin.name,
            version: plugin.version,
            tasks: Vec::new(),
        });
        layer.tasks.extend([adapted, mark]);
    }
    Ok(layers.into_values().collect())
}

/// The ids of ordered tasks in the graph. Tasks of a graph keep the ids they have. Those of `tasks.yaml` get theirs with the name of the plugin in front, or one
/// by counting.
pub fn task_ids(plugins: &[StagePlugin<'_>], ordered: &[OrderedTask<'_>]) -> Vec<String> {
    let of_graphs = plugins.iter().flat_map(|plugin| plugin.graph_tasks).map(|task| task.name.clone());
    let mut used: BTreeSet<String> = of_graphs.collect();
    let mut counts: HashMap<(usize, String), usize> = HashMap::new();
    let mut ids = Vec::with_capacity(ordered.len());
    for task in ordered {
        let plugin = &plugins[task.plugin_idx];
        let Some(written) = plugin.tasks.get(task.task_idx) else {
            ids.push(plugin.graph_tasks[task.task_idx - plugin.tasks.len()].name.clone());
            continue;
        };
        let own = written.get("id").and_then(Json::as_str).filter(|id| !id.is_empty());
        let own = own.map(|id| format!("{}-{id}", plugin.name)).filter(|id| used.insert(id.clone()));
        ids.push(own.unwrap_or_else(|| {
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

/// The id of a task that has none: `lma-post_deployment-8200-2` is the second task of the plugin `lma` for 8200.
///
/// It holds neither the version of the plugin nor a position over all its tasks, so that the history of a task
/// outlives updates and changes elsewhere. The sign of a number is `minus`, its dot `_`, for ids of tasks are letters,
/// digits, `-` and `_`.
pub fn task_id(plugin: &str, stage: Stage, count: usize) -> String {
    let number = stage.number();
    // Written out, the largest numbers have three hundred digits.
    let is_short = number == 0.0 || (1e-6..1e15).contains(&number.abs());
    let shown = if is_short { number.to_string() } else { format!("{number:e}") };
    let shown = shown.replace('-', "minus").replace('.', "_");
    format!("{plugin}-{}-{shown}-{count}", stage.name.as_str())
}

/// The version from which tasks may wait for other nodes.
const VERSION: &str = "2.0.0";

fn adapt(plugin: &StagePlugin<'_>, task: &OrderedTask<'_>, id: &str, before: Option<&str>) -> Task {
    let mut fields = match plugin.tasks.get(task.task_idx) {
        Some(written) => fields_of_file(written),
        None => plugin.graph_tasks[task.task_idx - plugin.tasks.len()].fields.clone(),
    };
    if is_first_package_version(plugin.package_version) {
        add_primary(&mut fields);
    }
    leave_end(&mut fields, task.stage.name);
    fields.insert("version".to_owned(), text(VERSION));
    fields.entry("fail_on_error").or_insert(Json::Bool(true));
    let diagnostic_name = format!("{}-{}", plugin.name, plugin.version);
    fields.entry("diagnostic_name").or_insert(Json::from(diagnostic_name));
    if let Some(before) = before {
        wait_for(&mut fields, before);
    }
    Task { name: id.to_owned(), fields }
}

/// Fields that would order a task of `tasks.yaml` in another way than its stage does.
const ORDERING: &[&str] =
    &["id", "requires", "required_for", "cross_depends", "cross_depended_by", "groups", "tasks"];

fn fields_of_file(written: &Json) -> JsonMap {
    let entries = written.as_object().into_iter().flatten();
    let fields = entries.map(|(name, value)| (canonical_field(name), value));
    let kept = fields.filter(|(name, _)| !ORDERING.contains(name));
    kept.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// Takes away the wish to come before the end of the stage that the task comes after.
fn leave_end(fields: &mut JsonMap, stage: StageName) {
    let end = end_of(stage);
    for key in ["required_for", "cross_depended_by"] {
        if let Some(Json::Array(items)) = fields.get_mut(key) {
            items.retain(|item| item.get("name").unwrap_or(item).as_str() != Some(&end));
        }
    }
}

/// In the first packages, who runs on controllers runs on the primary one too.
fn add_primary(fields: &mut JsonMap) {
    if let Some(Json::Array(roles)) = fields.get_mut("roles") {
        let has = |name: &str| roles.iter().any(|role| role.as_str() == Some(name));
        if has("controller") && !has("primary-controller") {
            roles.push(text("primary-controller"));
        }
    }
}

/// Lets a task wait for something on the sync node, beside everything its author lets it wait for. What is computed as
/// a whole cannot be added to; then the plain requirement, which also looks at the sync node, serves.
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

/// What stands behind a task: done when the task is done on all its nodes, even if these are none.
fn mark_of(task: &Task, before: Option<&str>, after: Option<&BTreeSet<String>>) -> Task {
    let mut fields = JsonMap::new();
    fields.insert("version".to_owned(), text(VERSION));
    fields.insert("type".to_owned(), text("stage"));
    if let Some(before) = before {
        fields.insert("requires".to_owned(), list([text(before)]));
    }
    fields.insert("cross_depends".to_owned(), everywhere(task));
    if let Some(after) = after.filter(|after| !after.is_empty()) {
        fields.insert("required_for".to_owned(), list(after.iter().map(|name| text(name))));
    }
    Task { name: format!("{}-done", task.name), fields }
}

/// Relations to a task wherever it runs. A place that is computed, or not named by roles, could be anywhere.
fn everywhere(task: &Task) -> Json {
    let name = ("name", text(&task.name));
    match task.field("roles") {
        Some(roles @ (Json::String(_) | Json::Array(_))) if task.field("tags").is_none() => {
            list([map([name, ("role", roles.clone())])])
        }
        _ => list([map([name.clone(), ("role", text("*"))]), map([name, ("role", text("master"))])]),
    }
}
