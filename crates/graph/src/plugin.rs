//! Defaults that the server adds to the tasks of a plugin before merging.

use stoker_model::{Json, Plugin, Task};

/// Returns the tasks of a plugin with defaults added: tasks with parameters run in the plugin's scripts
/// directory below `scripts_root` unless they set `cwd`, and a group gets the fault tolerance of the plugin's
/// role of the same name.
pub fn plugin_tasks<'t>(
    plugin: &Plugin,
    scripts_root: &str,
    tasks: impl Iterator<Item = &'t Task>,
) -> Vec<Task> {
    let folder = plugin.scripts_folder(scripts_root);
    tasks
        .map(|task| {
            let mut task = task.clone();
            add_folder(&mut task, &folder);
            add_tolerance(&mut task, plugin);
            task
        })
        .collect()
}

fn add_folder(task: &mut Task, folder: &str) {
    let Some(Json::Object(parameters)) = task.fields.get_mut("parameters") else { return };
    let is_computed = parameters.contains_key("yaql_exp");
    if !parameters.is_empty() && !is_computed {
        parameters.entry("cwd").or_insert_with(|| Json::from(folder));
    }
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
    use stoker_model::{JsonMap, Micros, NewPlugin, PLUGIN_SCRIPTS_ROOT, PluginId};

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

    fn check(name: &str, fields: Json, expected: &Json) {
        let task = Task { name: name.to_owned(), fields: map(fields) };
        let tasks = plugin_tasks(&plugin(), PLUGIN_SCRIPTS_ROOT, std::iter::once(&task));
        assert_eq!(Json::Object(tasks[0].fields.clone()), *expected);
    }

    #[test]
    fn parameters_default_to_the_scripts_folder() {
        let folder = "/etc/fuel/plugins/lma-1.0.0/";
        check("a", json!({"parameters": {"cmd": "x"}}), &json!({"parameters": {"cmd": "x", "cwd": folder}}));
        check("a", json!({"parameters": {"cwd": "/"}}), &json!({"parameters": {"cwd": "/"}}));
        check("a", json!({"parameters": {}}), &json!({"parameters": {}}));
        check("a", json!({}), &json!({}));
        check("a", json!({"parameters": {"yaql_exp": "$.x"}}), &json!({"parameters": {"yaql_exp": "$.x"}}));
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
