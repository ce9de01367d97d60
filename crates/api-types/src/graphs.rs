//! Request and response types for graphs.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use stoker_manifest::task::render;
use stoker_model::{JsonMap, StoredTask, Task};
use utoipa::ToSchema;

use crate::error::ErrorItem;

/// Error, warning or note about a graph.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Finding)]
pub struct FindingView {
    /// `error`: the graph cannot run; `warning`: the graph is valid but probably not as intended; `note`: information.
    #[schema(example = "error")]
    pub severity: String,
    /// Stable code of the diagnostic.
    #[schema(example = "graph-cycle")]
    pub code: String,
    /// Name of the task.
    pub task: Option<String>,
    /// Path of the field within the task.
    #[schema(example = "requires[0]")]
    pub path: String,
    pub message: String,
    /// Suggested fix.
    pub help: Option<String>,
    /// Layer that set the field: `release`, `cluster` or `plugins`.
    pub layer: Option<String>,
    /// Name and version of the plugin, if a plugin set the field.
    pub plugin: Option<String>,
}

/// Task of a graph. Fields with an alias are included under both names.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = GraphTask)]
pub struct GraphTaskView {
    /// Name of the task.
    #[schema(example = "netconfig")]
    pub id: String,
    /// Same as `id`, for older clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub task_name: Option<String>,
    /// The other fields of the task, such as `type`, `version`, `role`, `requires` and `parameters`.
    #[serde(flatten)]
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub fields: JsonMap,
    /// ID of the row of the task. Only in `/graphs/{id}/tasks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub db_id: Option<i64>,
    /// For each field, the layer that set it. Only in merged graphs, on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<std::collections::HashMap<String, ProvenanceView>>)]
    pub provenance: Option<IndexMap<String, ProvenanceView>>,
}

/// Layer that set a field of a task.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Provenance)]
pub struct ProvenanceView {
    /// `release`, `cluster` or `plugins`.
    #[schema(example = "release")]
    pub layer: String,
    /// Name of the plugin, if a plugin set the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub plugin: Option<String>,
    /// Version of the plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub version: Option<String>,
    /// Layers whose values are overridden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub overrides: Vec<String>,
}

impl GraphTaskView {
    pub fn of(task: &Task) -> Self {
        let mut fields = render(task);
        for name in ["id", "task_name"] {
            fields.shift_remove(name);
        }
        let name = Some(task.name.clone());
        Self { id: task.name.clone(), task_name: name, fields, db_id: None, provenance: None }
    }

    /// Renders a task with the ID of its row.
    pub fn of_row(stored: &StoredTask) -> Self {
        Self { db_id: Some(stored.id.0), ..Self::of(&stored.task) }
    }
}

/// Graph with its tasks.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Graph)]
pub struct GraphView {
    #[schema(example = 12)]
    pub id: i64,
    /// Graph type.
    #[serde(rename = "type")]
    #[schema(example = "default")]
    pub graph_type: String,
    pub name: Option<String>,
    pub tasks: Vec<GraphTaskView>,
    /// Owner of the graph.
    pub relations: Vec<GraphRelation>,
    /// YAQL predicate that selects the nodes of the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "$.status = ready")]
    pub node_filter: Option<String>,
    /// `rerun` or `keep`: whether a changed task definition makes its task run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "keep")]
    pub on_definition_change: Option<String>,
    /// Overrides of node attributes after success, in `node_attributes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub on_success: Option<JsonMap>,
    /// Overrides of node attributes after a failure, in `node_attributes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub on_error: Option<JsonMap>,
    /// Overrides of node attributes after a stop, in `node_attributes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub on_stop: Option<JsonMap>,
    /// Warnings about an uploaded graph. Only present in responses to uploads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub warnings: Vec<ErrorItem>,
}

// `stoker_manifest::graph` reads graphs, because commands read the same documents from files; a test compares the keys.
/// Request body for a graph. A list of tasks is accepted in its place.
#[derive(ToSchema)]
#[schema(as = GraphBody)]
pub struct UploadBody {
    /// Graph type (default: that of the path, or `default`).
    #[schema(nullable = false, example = "default", pattern = "^[0-9A-Za-z_-]{1,255}$")]
    pub r#type: Option<String>,
    #[schema(example = "my graph")]
    pub name: Option<String>,
    #[schema(nullable = false, value_type = Option<Vec<Object>>, example = json!([{"id": "hello", "type": "shell", "role": "*", "parameters": {"cmd": "echo hello"}}]))]
    pub tasks: Option<Vec<JsonMap>>,
    /// YAQL predicate that selects the nodes of the graph.
    #[schema(example = "$.status = ready")]
    pub node_filter: Option<String>,
    /// `rerun` (default) or `keep`: whether a changed task definition makes its task run again.
    #[schema(example = "keep", pattern = "^(rerun|keep)$")]
    pub on_definition_change: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub on_success: Option<JsonMap>,
    #[schema(value_type = Option<Object>)]
    pub on_error: Option<JsonMap>,
    #[schema(value_type = Option<Object>)]
    pub on_stop: Option<JsonMap>,
}

/// Request body to create a graph, with its owner.
#[derive(ToSchema)]
pub struct NewGraphBody {
    /// Kind of owner (default: `cluster`).
    #[schema(nullable = false)]
    pub model: Option<OwnerWord>,
    /// ID of the owner. Required without `relations`.
    #[schema(nullable = false, example = 3, minimum = 1)]
    pub model_id: Option<i64>,
    /// The owner as responses show it: a list with one element, in place of `model` and `model_id`.
    #[schema(nullable = false)]
    pub relations: Option<Vec<GraphRelation>>,
    #[serde(flatten)]
    #[schema(inline)]
    pub graph: UploadBody,
}

/// Kind of owner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OwnerWord {
    Release,
    Cluster,
    Plugin,
}

/// Owner of a graph.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Relation)]
pub struct GraphRelation {
    #[serde(rename = "type")]
    pub graph_type: String,
    /// `release`, `cluster` or `plugin`.
    #[schema(example = "cluster")]
    pub model: String,
    /// ID of the owner.
    #[schema(example = 3)]
    pub model_id: i64,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value as Json;
    use stoker_manifest::Format;
    use stoker_manifest::graph::read;
    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn tasks_are_rendered_in_the_order_of_their_fields() {
        let text = r#"[{"type": "shell", "id": "a", "zeta": 1, "requires": ["b"], "role": "*"}]"#;
        let tasks = read(text, Format::Json).value.and_then(|graph| graph.tasks).unwrap();
        let view = GraphTaskView::of(&tasks[0]);
        assert_eq!(serde_json::to_string(&view).unwrap(), Json::Object(render(&tasks[0])).to_string());
        let read: GraphTaskView = serde_json::from_value(Json::Object(render(&tasks[0]))).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), serde_json::to_value(view).unwrap());
    }

    fn properties(schema: &Json) -> BTreeSet<String> {
        let parts = schema["allOf"].as_array().into_iter().flatten().chain([schema]);
        parts.filter_map(|part| part["properties"].as_object()).flat_map(|map| map.keys().cloned()).collect()
    }

    #[test]
    fn the_schema_has_the_keys_that_the_reader_knows() {
        let validated = read(r#"{"zzzzzzzzzzzz": 1}"#, Format::Json);
        let help = validated.problems.iter().find_map(|problem| problem.help.clone()).unwrap();
        let known: BTreeSet<String> =
            help.trim_start_matches("known keys: ").split(", ").map(str::to_owned).collect();
        let mut declared = properties(&serde_json::to_value(NewGraphBody::schema()).unwrap());
        // Responses contain the ID, and uploads ignore it.
        declared.insert("id".to_owned());
        assert_eq!(declared, known);
    }
}
