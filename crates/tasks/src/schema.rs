//! JSON Schema of `tasks.yaml`, for completion and validation in editors.
//!
//! Covers the syntax checks of an upload. Requires less than planning does: a layer may contain a partial
//! task that is completed by another layer.

use serde_json::{Map, Value, json};
use stoker_model::{OnDrift, StrategyType, TASK_FIELDS, TaskType as Name};

use crate::TASK_TYPES;
use crate::parameter::{Parameter, ParameterRequirement, ParameterType};
use crate::task_type::TaskType;

/// Returns the schema document.
pub fn tasks() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Graph of tasks",
        "description": "List of tasks, or a graph with tasks and graph-level attributes",
        "anyOf": [
            {"type": "array", "items": {"$ref": "#/$defs/task"}},
            {"$ref": "#/$defs/graph"},
        ],
        "$defs": {
            "computed": {
                "type": "object", "required": ["yaql_exp"], "description": "Value computed during planning",
                "properties": {"yaql_exp": {"type": "string", "description": "YAQL expression"}},
            },
            "name": or_computed(json!({"type": "string", "minLength": 1, "maxLength": 255})),
            "names": {"type": "array", "items": {"$ref": "#/$defs/name"}},
            "places": or_computed(json!({"anyOf": [{"type": "string", "minLength": 1}, {"$ref": "#/$defs/names"}]})),
            "relation": or_computed(relation()),
            "reaction": reaction(),
            "graph": graph(),
            "task": task(),
        },
    })
}

fn graph() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {}, "relations": {},
            "name": {"type": ["string", "null"], "description": "Display name"},
            "type": {"type": "string", "description": "Graph type, if the URL does not contain it"},
            "tasks": {"type": "array", "items": {"$ref": "#/$defs/task"}},
            "node_filter": {"type": ["string", "null"], "description": "YAQL expression over a node record that selects the nodes of the graph"},
            "on_definition_change": {"enum": ["rerun", "keep", null], "description": "Effect of a changed task definition: `rerun` plans from an empty state (default), `keep` ignores the change"},
            "on_success": {"$ref": "#/$defs/reaction"},
            "on_error": {"$ref": "#/$defs/reaction"},
            "on_stop": {"$ref": "#/$defs/reaction"},
        },
    })
}

fn reaction() -> Value {
    json!({
        "type": ["object", "null"], "description": "Node attributes to set when the graph ends this way on a node",
        "properties": {"node_attributes": {"type": "object"}},
    })
}

fn relation() -> Value {
    json!({
        "type": "object", "required": ["name"],
        "properties": {
            "name": {"$ref": "#/$defs/name", "description": "Task name, or a regular expression between slashes"},
            "role": {"anyOf": [{"$ref": "#/$defs/places"}, {"type": "null"}], "description": "Roles that select the nodes; `self` is the same node"},
            "tags": {"anyOf": [{"$ref": "#/$defs/places"}, {"type": "null"}]},
            "policy": or_computed(json!({"enum": ["all", "any"]})),
        },
    })
}

fn task() -> Value {
    let types: Vec<Value> = TASK_TYPES.iter().map(|task_type| type_schema(task_type)).collect();
    json!({
        "type": "object", "required": ["id", "type"], "properties": fields(), "allOf": types,
    })
}

/// Returns the schema of every task field, under its canonical name and its alias.
fn fields() -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, about) in DESCRIPTIONS {
        let mut form = field(name);
        if let Some(form) = form.as_object_mut().filter(|_| !about.is_empty()) {
            form.insert("description".to_owned(), json!(about));
        }
        let alias = TASK_FIELDS.iter().find(|field| field.canonical == *name).and_then(|field| field.alias);
        for name in alias.into_iter().chain([*name]) {
            fields.insert(name.to_owned(), form.clone());
        }
    }
    fields
}

/// Descriptions by canonical field name.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("id", "Task ID, unique in the graph"),
    ("type", "Task type"),
    ("version", "Version of the task format; dependencies across nodes require 2.0.0 or newer"),
    (
        "roles",
        "Nodes that execute the task: roles, tags, `*`, `master`, `self`, or a regular expression between slashes",
    ),
    ("groups", "Legacy name of `roles`"),
    ("tags", "Nodes that execute the task, by tag"),
    ("requires", "Tasks on the same node that must finish before this one"),
    ("required_for", "Tasks on the same node that wait for this one"),
    ("cross_depends", "Tasks on other nodes that must finish before this one"),
    ("cross_depended_by", "Tasks on other nodes that wait for this one"),
    ("tasks", "Tasks of a group"),
    ("condition", "Condition for executing the task"),
    ("parameters", "Parameters of the task type"),
    ("reexecute_on", "Events that cause re-execution; accepted for graphs of Fuel, without effect"),
    (
        "refresh_on",
        "Triggers: tasks on the same node, or on other nodes as `{name, role}`, whose changes let this task run after them; \
         other entries have no effect",
    ),
    ("fail_on_error", "Whether a failure of the task fails the node"),
    (
        "on_drift",
        "What happens if a node differs from the state that the task applied: the next plan repairs it (default), it is only \
         reported, or the task is not checked",
    ),
    ("fault_tolerance", "Maximum number of failed nodes in a group: an integer or a percentage"),
    ("stage", "Stage of a plugin task: `name` or `name/number`"),
    ("test_pre", "Test of Fuel; accepted and not executed"),
    ("test_post", "Test of Fuel; accepted and not executed"),
];

fn field(name: &str) -> Value {
    match name {
        "id" => json!({"type": "string", "minLength": 1, "maxLength": 255}),
        "type" => or_computed(json!({"enum": Name::NAMES})),
        "version" => or_computed(json!({"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"})),
        "roles" | "groups" | "tags" => json!({"$ref": "#/$defs/places"}),
        "requires" | "required_for" | "tasks" | "reexecute_on" => {
            or_computed(json!({"$ref": "#/$defs/names"}))
        }
        "refresh_on" => or_computed(json!({
            "type": "array",
            "items": {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 255}, {"$ref": "#/$defs/relation"}]},
        })),
        "cross_depends" | "cross_depended_by" => {
            or_computed(json!({"type": "array", "items": {"$ref": "#/$defs/relation"}}))
        }
        "condition" => or_computed(json!({"type": ["null", "boolean", "string"]})),
        "fail_on_error" => or_computed(json!({"type": "boolean"})),
        "on_drift" => json!({"enum": OnDrift::NAMES}),
        "fault_tolerance" => or_computed(json!({
            "anyOf": [{"type": ["null", "integer"]}, {"type": "string", "pattern": r"^\s*[-+]?[0-9]+\s*%?\s*$"}],
        })),
        "stage" => {
            or_computed(json!({"type": "string", "pattern": r"^\s*[^/\s][^/]*(/[-+]?[0-9]*(\.[0-9]+)?)?$"}))
        }
        _ => or_computed(json!({"type": "object"})),
    }
}

/// Returns the schema of the parameters for tasks of one type.
fn type_schema(task_type: &TaskType) -> Value {
    let TaskType { name, summary: about, parameters, .. } = task_type;
    let mut properties = parameter_schemas(parameters);
    properties.insert("strategy".to_owned(), or_computed(strategy()));
    json!({
        "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
        "then": {
            "description": about,
            "properties": {"parameters": {"properties": properties}},
        },
    })
}

fn strategy() -> Value {
    json!({
        "type": "object", "required": ["type"], "description": "How many nodes execute the task concurrently",
        "properties": {
            "type": or_computed(json!({"enum": StrategyType::NAMES})),
            "amount": or_computed(json!({"type": "integer", "minimum": 0, "description": "0: no limit"})),
        },
    })
}

/// Returns the schemas of parameters. They describe parameters but do not enforce them: planning validates
/// parameters, because another layer may still override them.
fn parameter_schemas(parameters: &[Parameter]) -> Map<String, Value> {
    let mut properties = Map::new();
    for Parameter { name, kind, requirement: need, description: about, .. } in parameters {
        let mut form = Map::new();
        let about = match need {
            ParameterRequirement::Ignored(why) => format!("Ignored: {why}"),
            ParameterRequirement::Required => format!("{about} Required."),
            ParameterRequirement::Optional => (*about).to_owned(),
            ParameterRequirement::Default(value) => format!("{about} Default: {value}."),
        };
        form.insert("description".to_owned(), json!(about));
        if let ParameterType::MapList(inner) = kind {
            form.insert("items".to_owned(), json!({"properties": parameter_schemas(inner)}));
        }
        if let ParameterType::Fields(inner) = kind {
            form.insert("properties".to_owned(), json!(parameter_schemas(inner)));
        }
        properties.insert((*name).to_owned(), Value::Object(form));
    }
    properties
}

fn or_computed(form: Value) -> Value {
    let forms = vec![form, json!({"$ref": "#/$defs/computed"})];
    Value::Object(Map::from_iter([("anyOf".to_owned(), Value::Array(forms))]))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use stoker_diagnostics::Diagnostics;

    use super::*;

    fn validator() -> jsonschema::Validator {
        jsonschema::validator_for(&tasks()).unwrap()
    }

    fn from_yaml(text: &str) -> Value {
        let loaded = stoker_yaml::load(text, &stoker_yaml::LoadLimits::default());
        assert!(!loaded.has_errors(), "{text}: {:?}", loaded.problems);
        stoker_manifest::reader::json(&loaded.documents[0].root, &mut Diagnostics::default()).unwrap()
    }

    #[test]
    fn every_field_has_a_schema() {
        let fields = fields();
        for field in TASK_FIELDS {
            for name in field.alias.into_iter().chain([field.canonical]) {
                assert!(fields.contains_key(name), "{name}");
            }
        }
    }

    #[test]
    fn examples_of_all_types_are_valid() {
        let validator = validator();
        for task_type in TASK_TYPES {
            let example = from_yaml(task_type.example);
            let example = if example.is_array() { example } else { json!([example]) };
            let errors: Vec<String> =
                validator.iter_errors(&example).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", task_type.name);
        }
    }

    #[test]
    fn documents_that_an_upload_rejects_are_invalid() {
        let validator = validator();
        for text in [
            "just words",
            "[{type: stage}]",
            "[{id: a}]",
            "[{id: {yaql_exp: '1'}, type: stage}]",
            "[{id: a, type: nonsense}]",
            "[{id: a, type: stage, version: 2.1}]",
            "[{id: a, type: stage, requires: b}]",
            "[{id: a, type: stage, cross-depends: [{role: x}]}]",
            "[{id: a, type: stage, cross_depends: [{name: x, policy: some}]}]",
            "[{id: a, type: shell, parameters: []}]",
            "[{id: a, type: shell, parameters: {strategy: {type: fast}}}]",
            "[{id: a, type: shell, condition: [1]}]",
            "[{id: a, type: group, fault_tolerance: some}]",
            "[{id: a, type: shell, stage: x/y}]",
            "{tasks: [{id: a}]}",
        ] {
            assert!(!validator.is_valid(&from_yaml(text)), "{text}");
        }
    }

    /// Collects every file with a task list below a directory.
    fn graphs(folder: &Path, paths: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_library_file = folder.ends_with("fuel-library") && name.ends_with("tasks.yaml");
            if path.is_dir() {
                graphs(&path, paths);
            } else if is_library_file || name == "default-graph.yaml" || name == "deployment_tasks.yaml" {
                paths.push(path);
            }
        }
    }

    #[test]
    fn real_graphs_are_valid() {
        let Some(graph) = stoker_testkit::real_data("fuel-library/default-graph.yaml") else { return };
        let mut paths = Vec::new();
        graphs(graph.ancestors().nth(2).unwrap(), &mut paths);
        assert!(paths.len() > 40, "{paths:?}");
        let validator = validator();
        for path in paths {
            let text = std::fs::read_to_string(&path).unwrap();
            if stoker_yaml::load(&text, &stoker_yaml::LoadLimits::default()).documents.is_empty() {
                continue;
            }
            let errors: Vec<String> = validator
                .iter_errors(&from_yaml(&text))
                .map(|error| format!("{} {error}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        }
    }
}
