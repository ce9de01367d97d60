//! Request and response types for graphs.

use serde::{Deserialize, Serialize};
use stoker_model::JsonMap;
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
    /// Tasks, each with `id` and `type`. Fields with an alias are included under both names.
    #[schema(value_type = Vec<Object>)]
    pub tasks: Vec<JsonMap>,
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
