//! Defaults that the server adds to the tasks of a plugin before merging.

use stoker_model::{Json, Plugin, Task};

/// Returns the tasks of a plugin with defaults added: tasks that run a command do so in `folder`, the directory of the
/// plugin's scripts on nodes, unless they set `cwd`, and a group gets the fault tolerance of the plugin's role of the same
/// name. `folder` is `None` for a plugin without such a directory, whose tasks run in the default directory of their type.
pub fn plugin_tasks<'t>(
    plugin: &Plugin,
    folder: Option<&str>,
    tasks: impl Iterator<Item = &'t Task>,
) -> Vec<Task> {
    tasks
        .map(|task| {
            let mut task = task.clone();
            if let Some(folder) = folder
                && task.field("type").is_some_and(runs_in_folder)
            {
                add_folder(&mut task, folder);
            }
            add_tolerance(&mut task, plugin);
            task
        })
        .collect()
}

/// Reports whether tasks of a type have a working directory. A computed type may have one.
pub fn runs_in_folder(task_type: &Json) -> bool {
    task_type.as_str().is_none_or(|name| IN_FOLDER.contains(&name))
}

/// Task types with parameter `cwd`.
const IN_FOLDER: &[&str] = &["ansible", "master_shell", "puppet", "shell"];

/// Sets the working directory of a task with parameters, unless it is set or the parameters are computed.
pub fn add_folder(task: &mut Task, folder: &str) {
    let Some(Json::Object(parameters)) = task.fields.get_mut("parameters") else { return };
    let is_computed = parameters.contains_key("yaql_exp");
    if !parameters.is_empty() && !is_computed {
        parameters.entry("cwd").or_insert_with(|| Json::from(folder));
    }
}

/// Reports whether a task is a stored task of the plugin with defaults added, as merged graphs show it.
pub fn is_with_defaults(plugin: &Plugin, folder: &str, stored: &Task, task: &Task) -> bool {
    let mut completed = stored.clone();
    add_tolerance(&mut completed, plugin);
    if completed.fields == task.fields {
        return true;
    }
    add_folder(&mut completed, folder);
    completed.fields == task.fields
}

fn add_tolerance(task: &mut Task, plugin: &Plugin) {
    if task.field("type").and_then(Json::as_str) != Some("group") {
        return;
    }
    let tolerance = plugin.body.roles_metadata.get(&task.name).and_then(|role| role.get("fault_tolerance"));
    if let Some(tolerance) = tolerance {
        task.fields.entry("fault_tolerance").or_insert_with(|| tolerance.clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_model::{JsonMap, Micros, NewPlugin, PluginId};

    use super::*;

    fn map(value: Json) -> JsonMap {
        match value {
            Json::Object(map) => map,
            other => panic!("not a map: {other}"),
        }
    }

    fn plugin() -> Plugin {
        let body = NewPlugin {
            roles_metadata: map(json!({"lma": {"fault_tolerance": "10%"}})),
            ..NewPlugin::new("lma", "1.0.0", "4.0.0")
        };
        Plugin { id: PluginId(1), generation: 1, body, created_at: Micros(0) }
    }

    const FOLDER: &str = "/etc/fuel/plugins/lma-1.0.0/";

    fn check(name: &str, fields: Json, expected: &Json) {
        let task = Task { name: name.to_owned(), fields: map(fields) };
        let tasks = plugin_tasks(&plugin(), Some(FOLDER), std::iter::once(&task));
        assert_eq!(Json::Object(tasks[0].fields.clone()), *expected);
    }

    #[test]
    fn commands_run_in_the_scripts_folder() {
        let shell = |parameters: Json| json!({"type": "shell", "parameters": parameters});
        check("a", shell(json!({"cmd": "x"})), &shell(json!({"cmd": "x", "cwd": FOLDER})));
        for unchanged in [
            shell(json!({"cwd": "/"})),
            shell(json!({})),
            shell(json!({"yaql_exp": "$.x"})),
            json!({"type": "shell"}),
            json!({"type": "upload_file", "parameters": {"path": "/x", "data": "y"}}),
            json!({"type": "sync", "parameters": {"src": "/x", "dst": "/y"}}),
            json!({"parameters": {"cmd": "x"}}),
        ] {
            check("a", unchanged.clone(), &unchanged);
        }
        let task = Task { name: "a".to_owned(), fields: map(shell(json!({"cmd": "x"}))) };
        let without_scripts = plugin_tasks(&plugin(), None, std::iter::once(&task));
        assert_eq!(without_scripts, [task]);
    }

    #[test]
    fn groups_default_to_the_tolerance_of_their_role() {
        check("lma", json!({"type": "group"}), &json!({"type": "group", "fault_tolerance": "10%"}));
        check(
            "lma",
            json!({"type": "group", "fault_tolerance": 0}),
            &json!({"type": "group", "fault_tolerance": 0}),
        );
        check("lma", json!({"type": "shell"}), &json!({"type": "shell"}));
        check("other", json!({"type": "group"}), &json!({"type": "group"}));
    }
}
