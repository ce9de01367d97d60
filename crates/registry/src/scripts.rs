//! Task that copies the scripts of a plugin to the nodes of its tasks.

use stoker_model::{Json, Plugin, Task};

use crate::build::{list, map, object, text};
use crate::reach::{Reach, free_name, quoted, reach};

/// Scripts of a plugin on the master and on nodes.
#[derive(Clone, Copy, Debug)]
pub struct Scripts<'a> {
    pub plugin: &'a Plugin,
    /// Directory of the scripts on the master.
    pub source: &'a str,
    /// Parent directory of the scripts of all plugins on nodes.
    pub root: &'a str,
    /// Digest of the scripts, as stored in states under [`STATE_KEY`]; `None` if unknown.
    pub digest: Option<&'a str>,
}

/// Key in states for the digests of scripts, by plugin name.
pub const STATE_KEY: &str = "plugin_scripts";

/// Timeout of the copy task in seconds. Generous, because there may be many small files and agents may be
/// busy.
const TIMEOUT_SECONDS: u32 = 300;

/// Creates the copy task for the tasks of a plugin; `None` if they run on no node. It has no dependencies,
/// and every task of the plugin on the same node depends on it. `is_taken` reports whether a task name is in
/// use.
///
/// Nodes that already have these scripts are skipped: the condition compares the digest with that of the last
/// success. If the state has no digest, the scripts are copied.
///
/// The task ID does not contain the plugin version, so that its history is preserved across updates.
pub fn scripts_task(scripts: Scripts<'_>, tasks: &[Task], is_taken: impl Fn(&str) -> bool) -> Option<Task> {
    let Reach { roles, dependents } = reach(tasks)?;
    let target = scripts.plugin.scripts_folder(scripts.root);
    let file = map([("src", text(scripts.source)), ("dst", text(&target))]);
    let mut fields = object([
        ("type", text("copy_files")),
        ("version", text("2.1.0")),
        ("roles", roles),
        ("required_for", list(dependents.into_iter().map(text))),
        ("fail_on_error", Json::Bool(true)),
        ("parameters", map([("files", list([file])), ("timeout", Json::from(TIMEOUT_SECONDS))])),
    ]);
    if let Some(digest) = scripts.digest {
        fields.insert("condition".to_owned(), condition(&scripts.plugin.body.name, digest));
    }
    Some(Task { name: free_name(&scripts.plugin.body.name, "scripts", is_taken), fields })
}

fn condition(plugin: &str, digest: &str) -> Json {
    let expression = format!("old($.get({STATE_KEY}, {{}}).get({})) != {}", quoted(plugin), quoted(digest));
    map([("yaql_exp", Json::from(expression))])
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_model::{Micros, NewPlugin, PLUGIN_SCRIPTS_ROOT, PluginId};

    use super::*;

    fn create(tasks: &Json, used_names: &[&str]) -> Option<Task> {
        create_with_digest(tasks, used_names, None)
    }

    fn create_with_digest(tasks: &Json, used_names: &[&str], digest: Option<&str>) -> Option<Task> {
        let body = NewPlugin::new("lma", "1.0.0", "4.0.0");
        let plugin = Plugin { id: PluginId(1), generation: 1, body, created_at: Micros(0) };
        let tasks = tasks.as_array().unwrap().iter().zip('a'..).map(|(fields, name)| Task {
            name: name.to_string(),
            fields: fields.as_object().unwrap().clone(),
        });
        let tasks: Vec<Task> = tasks.collect();
        let scripts =
            Scripts { plugin: &plugin, source: "/m/lma-1.0/scripts", root: PLUGIN_SCRIPTS_ROOT, digest };
        scripts_task(scripts, &tasks, |name| used_names.contains(&name))
    }

    #[test]
    fn scripts_are_copied_before_the_tasks_of_the_plugin() {
        let tasks = json!([
            {"type": "shell", "roles": ["controller"]},
            {"type": "stage", "roles": ["x"]},
            {"type": "puppet", "roles": "compute", "stage": "post_deployment"},
            {"type": "master_shell", "roles": ["mongo"]},
        ]);
        let task = create(&tasks, &[]).unwrap();
        assert_eq!(task.name, "lma-scripts");
        let expected = json!({
            "type": "copy_files", "version": "2.1.0", "fail_on_error": true,
            "roles": ["compute", "controller"], "required_for": ["a", "c"],
            "parameters": {
                "files": [{"src": "/m/lma-1.0/scripts", "dst": "/etc/fuel/plugins/lma-1.0.0/"}],
                "timeout": 300,
            },
        });
        assert_eq!(Json::Object(task.fields), expected);
        assert_eq!(create(&tasks, &["lma-scripts", "lma-scripts-2"]).unwrap().name, "lma-scripts-3");
    }

    #[test]
    fn unchanged_scripts_are_not_copied() {
        let tasks = json!([{"type": "shell", "roles": ["controller"]}]);
        let task = create_with_digest(&tasks, &[], Some("1.0.0 abc")).unwrap();
        let expected = "old($.get(plugin_scripts, {}).get('lma')) != '1.0.0 abc'";
        assert_eq!(task.field("condition"), Some(&json!({"yaql_exp": expected})));
    }

    #[test]
    fn scripts_are_copied_to_the_nodes_of_the_tasks() {
        let cases = [
            (json!([]), json!(null)),
            (json!([{"type": "shell", "roles": ["master"]}]), json!(null)),
            (json!([{"type": "shell"}, {"type": "shell", "roles": null}]), json!(null)),
            (json!([{"type": "skipped", "roles": "*"}]), json!(null)),
            (json!([{"type": "group", "roles": ["a"]}]), json!(null)),
            (json!([{"type": "group", "roles": ["a"], "tasks": ["b"]}, {"type": "shell"}]), json!(["a"])),
            (json!([{"type": "shell", "roles": ["a", "master"]}]), json!(["a"])),
            (json!([{"type": "shell", "roles": ["a"]}, {"type": "sync", "roles": "*"}]), json!("*")),
            (json!([{"type": "shell", "tags": ["t"], "roles": ["a"]}]), json!(["t"])),
            (json!([{"type": "shell", "groups": ["/g.*/"]}]), json!(["/g.*/"])),
            (json!([{"type": "shell", "roles": {"yaql_exp": "$.roles"}}]), json!("*")),
            (json!([{"type": {"yaql_exp": "x"}, "roles": [{"yaql_exp": "y"}]}]), json!("*")),
        ];
        for (tasks, expected) in cases {
            let roles = create(&tasks, &[]).and_then(|task| task.field("roles").cloned());
            assert_eq!(roles.unwrap_or_default(), expected, "{tasks}");
        }
    }
}
