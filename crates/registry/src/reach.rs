//! Where tasks of a plugin run: whatever they need has to be there before them.

use std::collections::BTreeSet;

use stoker_model::{Json, Task};

use crate::build::{list, text};

/// Types of tasks that run nothing on a node that could be a script.
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

/// Nodes that tasks run on, and those of the tasks that need something there.
pub(crate) struct Reach<'t> {
    pub(crate) roles: Json,
    /// Names of tasks.
    pub(crate) waiting: Vec<&'t str>,
}

/// None if the tasks run on no node.
pub(crate) fn reach(tasks: &[Task]) -> Option<Reach<'_>> {
    let mut places = Places::default();
    let mut waiting = Vec::new();
    for task in tasks {
        let task_type = task.field("type").and_then(Json::as_str).unwrap_or_default();
        if WITHOUT_SCRIPTS.contains(&task_type) {
            continue;
        }
        let is_group = task_type == "group";
        if !is_group {
            waiting.push(task.name.as_str());
        }
        let has_members = task
            .field("tasks")
            .is_some_and(|members| members.as_array().is_none_or(|members| !members.is_empty()));
        if !is_group || has_members {
            places.add(task);
        }
    }
    Some(Reach { roles: places.roles()?, waiting })
}

/// A name that no other task has: what it is for behind the name of the plugin, and a number if need be.
pub(crate) fn free_name(plugin: &str, what: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut name = format!("{plugin}-{what}");
    let mut count = 1;
    while is_taken(&name) {
        count += 1;
        name = format!("{plugin}-{what}-{count}");
    }
    name
}

/// A text inside of an expression.
pub(crate) fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Names of roles and tags; a place that is computed could be anywhere.
#[derive(Default)]
struct Places<'t> {
    names: BTreeSet<&'t str>,
    is_anywhere: bool,
}

const MASTER: &str = "master";
const EVERYWHERE: &str = "*";

impl<'t> Places<'t> {
    /// The first of these that a task has decides where it runs.
    fn add(&mut self, task: &'t Task) {
        let place = ["tags", "roles", "groups"].iter().find_map(|field| task.field(field));
        match place {
            None | Some(Json::Null) => {}
            Some(Json::String(name)) => _ = self.names.insert(name),
            Some(Json::Array(items)) => {
                for item in items {
                    match item {
                        Json::String(name) => _ = self.names.insert(name),
                        Json::Null => {}
                        _ => self.is_anywhere = true,
                    }
                }
            }
            Some(_) => self.is_anywhere = true,
        }
    }

    fn roles(mut self) -> Option<Json> {
        // The master has the files.
        self.names.remove(MASTER);
        if self.is_anywhere || self.names.contains(EVERYWHERE) {
            return Some(text(EVERYWHERE));
        }
        (!self.names.is_empty()).then(|| list(self.names.into_iter().map(text)))
    }
}
