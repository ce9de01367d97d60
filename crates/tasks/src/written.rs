//! Validation of parameters as written in a graph, before expressions are evaluated.

use stoker_diagnostics::{Diagnostic, Severity, has_errors};
use stoker_model::{Json, JsonMap};

use crate::check::{Checker, check_parameters, describe, is_known};
use crate::outcome::FailureCause;
use crate::parameter::{Parameter, ParameterRequirement, ParameterType, count, seconds};
use crate::{TASK_TYPES, TaskRunner, TaskType};

/// A map with this key is an expression.
const COMPUTED: &str = "yaql_exp";
/// Limits of planning, which refuses larger values: a year, and a number of retries that is surely a mistake.
const SECONDS_MAX: f64 = 366.0 * 86_400.0;
const RETRIES_MAX: u64 = 1000;

/// Parameters that planning reads for every task type.
const TIMING: &[(&str, ParameterType)] = &[
    ("timeout", ParameterType::Seconds),
    ("interval", ParameterType::Seconds),
    ("retries", ParameterType::Count),
];

/// Validates the literal parts of the parameters of a task: unknown and missing parameters, values of the wrong kind, and
/// relative paths. Computed values are skipped. Types that are unknown or not executed have no diagnostics here.
pub fn check_written(name: &str, parameters: &Json) -> Vec<Diagnostic> {
    let task_type = TASK_TYPES.iter().find(|task_type| task_type.name == name);
    // A skipped task often keeps the parameters of its former type.
    let Some(task_type) = task_type.filter(|task_type| task_type.run.is_some()) else { return Vec::new() };
    let table = task_type.parameters;
    let mut checker = Written { checker: Checker::default() };
    match parameters {
        Json::Object(map) if map.contains_key(COMPUTED) => {}
        Json::Object(map) => {
            checker.map(table, map, "");
            checker.timing(map);
        }
        Json::Null => checker.map(table, &JsonMap::new(), ""),
        other => {
            let message = format!("`parameters` must be a map, got {}", describe(other));
            checker.checker.report(Severity::Error, String::new(), message);
        }
    }
    let mut problems = checker.checker.problems;
    if !has_errors(&problems) && !has_expressions(parameters) {
        problems.extend(refusal(task_type, parameters));
    }
    problems
}

/// Reports literal parameters that the task type would refuse on the node.
fn refusal(task_type: &TaskType, parameters: &Json) -> Option<Diagnostic> {
    let Some(TaskRunner::Resource(resource)) = task_type.run else { return None };
    let values = check_parameters(task_type.parameters, parameters).0?;
    match (resource.validate)(&values).err()?.cause {
        FailureCause::Refused(message) | FailureCause::Failed(message) => Some(Diagnostic::plain(message)),
        FailureCause::Stopped(_) => None,
    }
}

fn has_expressions(value: &Json) -> bool {
    match value {
        Json::Object(map) => map.contains_key(COMPUTED) || map.values().any(has_expressions),
        Json::Array(items) => items.iter().any(has_expressions),
        // It may contain a placeholder, which planning replaces.
        Json::String(text) => text.contains('{'),
        _ => false,
    }
}

struct Written {
    checker: Checker,
}

impl Written {
    fn map(&mut self, table: &[Parameter], parameters: &JsonMap, place: &str) {
        for parameter in table {
            let value = self.checker.find(parameter, parameters, place);
            let place = format!("{place}{}", parameter.name);
            match (value, parameter.requirement) {
                (None, ParameterRequirement::Required) => self.checker.report_missing(place),
                (None, _) | (Some(_), ParameterRequirement::Ignored(_)) => {}
                (Some(value), _) => self.value(*parameter, value, parameters, &place),
            }
        }
        for name in parameters.keys().filter(|name| !is_known(table, name, place)) {
            self.checker.report_unknown(table, name, place);
        }
        let interrupted = parameters.get("retry_interrupted").filter(|_| place.is_empty());
        if interrupted.is_some_and(|value| !value.is_null() && !value.is_boolean() && !is_computed(value)) {
            self.wrong("retry_interrupted", &ParameterType::Boolean.name());
        }
    }

    /// Reports timing parameters that planning refuses, also for task types that ignore them.
    fn timing(&mut self, parameters: &JsonMap) {
        for (name, kind) in TIMING {
            let value = parameters.get(*name).filter(|value| !value.is_null() && !is_computed(value));
            let is_reported = self
                .checker
                .problems
                .iter()
                .any(|problem| problem.is_error() && problem.location.path == *name);
            if value.is_some_and(|value| !kind.accepts(value)) && !is_reported {
                self.wrong(name, &kind.name());
            }
        }
    }

    fn value(&mut self, parameter: Parameter, value: &Json, parameters: &JsonMap, place: &str) {
        if is_computed(value) {
            return;
        }
        if let (ParameterType::Fields(table), Json::Object(map)) = (parameter.kind, value) {
            return self.map(table, map, &format!("{place}."));
        }
        if let (ParameterType::MapList(table), Json::Array(items)) = (parameter.kind, value) {
            for (idx, item) in items.iter().enumerate().filter(|(_, item)| !is_computed(item)) {
                match item {
                    Json::Object(map) => self.map(table, map, &format!("{place}[{idx}].")),
                    other => {
                        let message = format!("`{place}[{idx}]` must be a map, got {}", describe(other));
                        self.checker.report(Severity::Error, format!("{place}[{idx}]"), message);
                    }
                }
            }
            if !items.is_empty() {
                return;
            }
        }
        if has_computed_items(value) {
            return;
        }
        if !parameter.kind.accepts(value) {
            let message = format!("`{place}` must be {}, got {}", parameter.kind.name(), describe(value));
            return self.checker.report(Severity::Error, place.to_owned(), message);
        }
        match parameter.kind {
            ParameterType::Path if is_relative(value) => self.wrong(place, "an absolute path"),
            ParameterType::CwdPath if !parameters.contains_key("cwd") && is_relative(value) => {
                let message = format!("`{place}` is relative; without `cwd` it is resolved against `/`");
                self.checker.report(Severity::Warning, place.to_owned(), message);
            }
            ParameterType::Seconds if seconds(value).is_some_and(|seconds| seconds > SECONDS_MAX) => {
                self.wrong(place, "a number of seconds, at most a year");
            }
            ParameterType::Count if count(value).is_some_and(|count| count > RETRIES_MAX) => {
                self.wrong(place, "an integer from 0 to 1000");
            }
            _ => {}
        }
    }

    fn wrong(&mut self, place: &str, expected: &str) {
        let message = format!("`{place}` must be {expected}");
        self.checker.report(Severity::Error, place.to_owned(), message);
    }
}

fn is_computed(value: &Json) -> bool {
    value.as_object().is_some_and(|map| map.contains_key(COMPUTED))
}

fn has_computed_items(value: &Json) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(is_computed))
}

/// Reports whether one of the paths separated by `:` is relative. A placeholder may stand for a directory.
fn is_relative(value: &Json) -> bool {
    let paths = value.as_str().into_iter().flat_map(|text| text.split(':')).map(str::trim);
    paths.filter(|path| !path.is_empty()).any(|path| !path.starts_with(['/', '{']))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn messages(name: &str, parameters: &Json) -> Vec<String> {
        let problems = check_written(name, parameters).into_iter();
        problems.map(|problem| format!("{}: {}", problem.severity.as_str(), problem.message)).collect()
    }

    #[test]
    fn literal_mistakes_are_found() {
        let cases: &[(&str, Json, &[&str])] = &[
            ("shell", json!({"cmd": "x", "timeout": 5, "strategy": {"type": "parallel"}}), &[]),
            (
                "shell",
                json!({"cmd": "x", "timeout": "soon"}),
                &["error: `timeout` must be a non-negative number of seconds, got a string"],
            ),
            (
                "shell",
                json!({"cmd": "x", "timeout": -5}),
                &["error: `timeout` must be a non-negative number of seconds, got a number"],
            ),
            (
                "link",
                json!({"path": "/a", "target": "/b", "timeout": -5}),
                &["error: `timeout` must be a non-negative number of seconds, got a number"],
            ),
            (
                "shell",
                json!({"cmd": "x", "timeout": 99_999_999_999_u64}),
                &["error: `timeout` must be a non-negative number of seconds, got a number"],
            ),
            (
                "shell",
                json!({"cmd": "x", "timeout": 99_999_999}),
                &["error: `timeout` must be a number of seconds, at most a year"],
            ),
            (
                "shell",
                json!({"cmd": "x", "retries": 5000}),
                &["error: `retries` must be an integer from 0 to 1000"],
            ),
            (
                "shell",
                json!({"cmd": "x", "retry_interrupted": "yes"}),
                &["error: `retry_interrupted` must be `true` or `false`"],
            ),
            ("shell", json!({"cmd": "x", "cwd": "etc"}), &["error: `cwd` must be an absolute path"]),
            ("shell", json!({"cmd": 1}), &["error: `cmd` must be non-blank text, got a number"]),
            ("shell", json!(null), &["error: Missing a required parameter cmd"]),
            ("line", json!({"path": "/a"}), &["error: either `line` or `block` is required"]),
            ("line", json!({"path": "/a", "line": {"yaql_exp": "$.x"}}), &[]),
            ("link", json!({"path": "/a"}), &["error: `target` is required, unless `state` is `absent`"]),
            (
                "link",
                json!({"path": "/a", "target": "/b", "dest": "/c"}),
                &[
                    "note: `dest` is an alias of `path`; write `path`",
                    "error: `dest` and `path` are the same parameter; give one of them",
                ],
            ),
            ("shell", json!([]), &["error: `parameters` must be a map, got an empty list"]),
            (
                "shell",
                json!({"comand": "x"}),
                &[
                    "error: Missing a required parameter cmd",
                    "warning: unknown parameter `comand`; expected one of cmd, cwd, env, timeout, retries, interval",
                ],
            ),
            (
                "upload_file",
                json!({"path": "motd", "data": "x", "permissions": 644}),
                &[
                    "error: `path` must be an absolute path",
                    "error: `permissions` must be an octal file mode in quotes, for example `'0644'`, got a number",
                ],
            ),
            (
                "copy_files",
                json!({"files": [{"src": "a", "dst": "b"}, 1, {"yaql_exp": "$.f"}]}),
                &[
                    "error: `files[0].src` must be an absolute path",
                    "error: `files[0].dst` must be an absolute path",
                    "error: `files[1]` must be a map, got a number",
                ],
            ),
            (
                "copy_files",
                json!({"files": []}),
                &["error: `files` must be a non-empty list of maps, got an empty list"],
            ),
            (
                "puppet",
                json!({"puppet_manifest": "site.pp", "puppet_modules": "/a:b"}),
                &[
                    "warning: `puppet_manifest` is relative; without `cwd` it is resolved against `/`",
                    "warning: `puppet_modules` is relative; without `cwd` it is resolved against `/`",
                ],
            ),
            ("puppet", json!({"puppet_manifest": "site.pp", "cwd": "/p", "undefined_retries": 3}), &[]),
        ];
        for (name, parameters, expected) in cases {
            assert_eq!(messages(name, parameters), *expected, "{name} {parameters}");
        }
    }

    #[test]
    fn computed_values_are_skipped() {
        for parameters in [
            json!({"yaql_exp": "$.parameters"}),
            json!({"cmd": {"yaql_exp": "$.cmd"}, "timeout": {"yaql_exp": "$.t"}, "cwd": "{ROOT}/x"}),
        ] {
            assert_eq!(messages("shell", &parameters), Vec::<String>::new(), "{parameters}");
        }
        let playbook = json!({"playbook": "/a.yml", "tags": ["a", {"yaql_exp": "$.tag"}]});
        assert_eq!(messages("ansible", &playbook), Vec::<String>::new());
        assert_eq!(messages("no such type", &json!({"a": 1})), Vec::<String>::new());
    }

    #[test]
    fn unknown_parameters_have_suggestions() {
        let help =
            |parameters: &Json| check_written("shell", parameters).pop().and_then(|problem| problem.help);
        assert_eq!(help(&json!({"cmd": "x", "timout": 5})).as_deref(), Some("did you mean `timeout`?"));
        assert_eq!(help(&json!({"cmd": "x", "colour": 5})), None);
    }

    #[test]
    fn examples_of_all_types_are_valid() {
        for task_type in TASK_TYPES {
            let loaded = stoker_yaml::load(task_type.example, &stoker_yaml::LoadLimits::default());
            let mut problems = stoker_diagnostics::Diagnostics::default();
            let example = stoker_manifest::reader::json(&loaded.documents[0].root, &mut problems).unwrap();
            let tasks = if example.is_array() { example } else { json!([example]) };
            for task in tasks.as_array().into_iter().flatten() {
                let name = task["type"].as_str().unwrap_or_default();
                assert_eq!(messages(name, &task["parameters"]), Vec::<String>::new(), "{}", task_type.name);
            }
        }
    }

    /// Graphs that were deployed for years have no mistakes, so a finding in them would be a false alarm.
    #[test]
    fn real_graph_has_no_errors() {
        let Some(path) = stoker_testkit::real_data("fuel-library/default-graph.yaml") else { return };
        let text = std::fs::read_to_string(path).unwrap();
        let loaded = stoker_yaml::load(&text, &stoker_yaml::LoadLimits::default());
        let mut problems = stoker_diagnostics::Diagnostics::default();
        let tasks = stoker_manifest::reader::json(&loaded.documents[0].root, &mut problems).unwrap();
        let mut findings = Vec::new();
        for task in tasks.as_array().unwrap() {
            let name = task["type"].as_str().unwrap_or_default();
            let of_task = messages(name, &task["parameters"]).into_iter();
            findings.extend(of_task.map(|message| format!("{}: {message}", task["id"])));
        }
        assert_eq!(findings, Vec::<String>::new());
    }
}
