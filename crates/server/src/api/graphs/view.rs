//! Request and response bodies of graphs.

use serde::Serialize;
use stoker_manifest::task::render;
use stoker_model::{Graph, GraphMetadata, Json, JsonMap, StoredTask};
use stoker_services::graphs::Stored;
use utoipa::ToSchema;

use crate::http::response::ApiResponse;
use crate::http::error::ErrorItem;
use crate::http::etag;

/// Graph with its tasks.
#[derive(Serialize, ToSchema)]
#[schema(as = Graph)]
pub(super) struct GraphView {
    #[schema(example = 12)]
    id: i64,
    /// Graph type.
    #[serde(rename = "type")]
    #[schema(example = "default")]
    graph_type: String,
    name: Option<String>,
    /// Tasks, each with `id` and `type`. Fields with an alias are included under both names.
    #[schema(value_type = Vec<Object>)]
    tasks: Vec<JsonMap>,
    /// Owner of the graph.
    relations: Vec<Relation>,
    /// YAQL predicate that selects the nodes of the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "$.status = ready")]
    node_filter: Option<String>,
    /// Overrides of node attributes after success, in `node_attributes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    on_success: Option<JsonMap>,
    /// Overrides of node attributes after a failure, in `node_attributes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    on_error: Option<JsonMap>,
    /// Overrides of node attributes after a stop, in `node_attributes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    on_stop: Option<JsonMap>,
    /// Warnings about an uploaded graph. Only present in responses to uploads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<ErrorItem>,
}

/// Owner of a graph.
#[derive(Serialize, ToSchema)]
pub(super) struct Relation {
    #[serde(rename = "type")]
    graph_type: String,
    /// `release`, `cluster` or `plugin`.
    #[schema(example = "cluster")]
    model: &'static str,
    /// ID of the owner.
    #[schema(example = 3)]
    model_id: i64,
}

impl From<Graph> for GraphView {
    fn from(graph: Graph) -> Self {
        let graph_type = graph.graph_type.as_str().to_owned();
        let GraphMetadata { name, node_filter, on_success, on_error, on_stop } = graph.metadata;
        Self {
            id: graph.id.0,
            name,
            tasks: graph.tasks.iter().map(|stored| render(&stored.task)).collect(),
            relations: vec![Relation {
                graph_type: graph_type.clone(),
                model: graph.owner.kind().as_str(),
                model_id: graph.owner.id(),
            }],
            graph_type,
            node_filter,
            on_success,
            on_error,
            on_stop,
            warnings: Vec::new(),
        }
    }
}

impl GraphView {
    /// Builds the response to an upload that updated a graph.
    pub(super) fn stored(stored: Stored) -> ApiResponse<Self> {
        let version = etag::of_graph(&stored.graph);
        ApiResponse::ok(Self {
            warnings: stored.warnings.into_iter().map(ErrorItem::from).collect(),
            ..Self::from(stored.graph)
        })
        .version(version)
    }

    /// Builds the response to an upload that created a graph.
    pub(super) fn created(stored: Stored) -> ApiResponse<Self> {
        let version = etag::of_graph(&stored.graph);
        ApiResponse::created(Self {
            warnings: stored.warnings.into_iter().map(ErrorItem::from).collect(),
            ..Self::from(stored.graph)
        })
        .version(version)
    }
}

/// Renders a task with the ID of its row.
pub(super) fn with_row(stored: &StoredTask) -> JsonMap {
    let mut fields = render(&stored.task);
    fields.insert("db_id".to_owned(), Json::from(stored.id.0));
    fields
}

/// Request body for a graph. A list of tasks is accepted in its place.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct GraphBody {
    /// Graph type (default: that of the path, or `default`).
    #[schema(nullable = false, example = "default", pattern = "^[0-9A-Za-z_-]{1,255}$")]
    r#type: Option<String>,
    #[schema(example = "my graph")]
    name: Option<String>,
    #[schema(nullable = false, value_type = Option<Vec<Object>>, example = json!([{"id": "hello", "type": "shell", "role": "*", "parameters": {"cmd": "echo hello"}}]))]
    tasks: Option<Vec<JsonMap>>,
    /// YAQL predicate that selects the nodes of the graph.
    #[schema(example = "$.status = ready")]
    node_filter: Option<String>,
    #[schema(value_type = Option<Object>)]
    on_success: Option<JsonMap>,
    #[schema(value_type = Option<Object>)]
    on_error: Option<JsonMap>,
    #[schema(value_type = Option<Object>)]
    on_stop: Option<JsonMap>,
}

/// Request body to create a graph, with its owner.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NewGraphBody {
    model: OwnerWord,
    /// ID of the owner.
    #[schema(example = 3, minimum = 1)]
    model_id: i64,
    #[serde(flatten)]
    #[schema(inline)]
    graph: GraphBody,
}

/// Kind of owner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
enum OwnerWord {
    Release,
    Cluster,
    Plugin,
}
