//! Nodes on which the tasks of a plugin run, and which therefore need its scripts and packages.

use std::collections::BTreeSet;

use stoker_model::{Json, Task, placement_field};

use crate::build::{list, text};

/// Task types that run no script on a node.
const WITHOUT_SCRIPTS: &[&str] = &[
    "cobbler_sync",
    "erase_node",
    "master_shell",
    "move_to_bootstrap",
    "noop",
    "reboot",
    "role",
    "skipped",
    "stage",
];

/// Nodes of a plugin's tasks, and the tasks that depend on what is installed there.
pub(crate) struct Reach<'t> {
    pub(crate) roles: Json,
    /// Names of the dependent tasks.
    pub(crate) dependents: Vec<&'t str>,
}

/// Returns the nodes on which tasks run; `None` if they run on no node. The tasks are as merged, with the groups that list
/// them.
pub(crate) fn reach(tasks: &[Task]) -> Option<Reach<'_>> {
    let mut selectors = Selectors::default();
    let mut dependents = Vec::new();
    for task in tasks {
        let task_type = task.field("type").and_then(Json::as_str).unwrap_or_default();
        if WITHOUT_SCRIPTS.contains(&task_type) {
            continue;
        }
        let is_group = task_type == "group";
        if !is_group {
            dependents.push(task.name.as_str());
        }
        let has_members = task
            .field("tasks")
            .is_some_and(|members| members.as_array().is_none_or(|members| !members.is_empty()));
        if !is_group || has_members {
            selectors.add(task);
        }
    }
    Some(Reach { roles: selectors.roles()?, dependents })
}

/// Returns an unused task name `<plugin>-<suffix>`, with a number appended if necessary.
pub(crate) fn free_name(plugin: &str, suffix: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut name = format!("{plugin}-{suffix}");
    let mut count = 1;
    while is_taken(&name) {
        count += 1;
        name = format!("{plugin}-{suffix}-{count}");
    }
    name
}

/// Quotes a string for a YAQL expression.
pub(crate) fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Names of roles and tags. A computed selector may match any node.
#[derive(Default)]
struct Selectors<'t> {
    names: BTreeSet<&'t str>,
    is_any_node: bool,
}

const MASTER: &str = "master";
const EVERYWHERE: &str = "*";

impl<'t> Selectors<'t> {
    /// Adds the nodes that a task selects.
    fn add(&mut self, task: &'t Task) {
        let selector = placement_field(|field| task.field(field)).and_then(|field| task.field(field));
        match selector {
            None | Some(Json::Null) => {}
            Some(Json::String(name)) => _ = self.names.insert(name),
            Some(Json::Array(items)) => {
                for item in items {
                    match item {
                        Json::String(name) => _ = self.names.insert(name),
                        Json::Null => {}
                        _ => self.is_any_node = true,
                    }
                }
            }
            Some(_) => self.is_any_node = true,
        }
    }

    fn roles(mut self) -> Option<Json> {
        // The master already has the files.
        self.names.remove(MASTER);
        if self.is_any_node || self.names.contains(EVERYWHERE) {
            return Some(text(EVERYWHERE));
        }
        (!self.names.is_empty()).then(|| list(self.names.into_iter().map(text)))
    }
}
