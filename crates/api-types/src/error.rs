//! Error responses.

use serde::{Deserialize, Serialize};
use stoker_model::Json;
use utoipa::ToSchema;

/// Error response.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Error)]
pub struct Envelope {
    /// Human-readable summary of all problems.
    #[schema(example = "Cluster not found")]
    pub message: String,
    /// One entry per problem; empty if `message` is sufficient.
    pub errors: Vec<ErrorItem>,
    /// Conflicts of a component selection, as returned by `components/check`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<Object>)]
    pub conflicts: Vec<Json>,
}

/// Severity of a problem.
#[derive(Clone, Debug, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Severity)]
pub enum ItemSeverity {
    /// The request fails because of it.
    Error,
    /// The request succeeds, but the input is probably a mistake.
    Warning,
}

/// A problem in the request.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ErrorItem {
    pub severity: ItemSeverity,
    /// Path in the document, such as `tasks[3].requires`; empty for the whole document.
    pub path: String,
    pub message: String,
    /// Line in the request body, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in the line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Name of the uploaded file; `line` refers to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The layer that set the field: `release`, `cluster`, or a plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// Stable identifier of the class of problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Type of the conflict between two components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Name of the affected plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// Name of the affected task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Affected nodes; only the first ones if there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub nodes: Vec<String>,
    /// Id of the conflicting resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
}
