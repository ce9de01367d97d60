//! Responses about graphs, and the schema of uploaded graphs.

use serde::Serialize;
use stoker_api_types::graphs::{GraphRelation, GraphView};
use stoker_manifest::task::render;
use stoker_model::{Graph, GraphMetadata, Json, JsonMap, StoredTask};
use stoker_services::graphs::Stored;
use utoipa::ToSchema;

use crate::http::error::render_error_item;
use crate::http::etag;
use crate::http::response::ApiResponse;

pub(super) fn render_graph(graph: Graph) -> GraphView {
    let relation = render_relation(&graph);
    let GraphMetadata { name, node_filter, on_definition_change, on_success, on_error, on_stop } =
        graph.metadata;
    GraphView {
        id: graph.id.0,
        name,
        tasks: graph.tasks.iter().map(|stored| render(&stored.task)).collect(),
        graph_type: relation.graph_type.clone(),
        relations: vec![relation],
        node_filter,
        on_definition_change: on_definition_change.map(|change| change.as_str().to_owned()),
        on_success,
        on_error,
        on_stop,
        warnings: Vec::new(),
    }
}

/// Renders the owner of a graph.
pub(super) fn render_relation(graph: &Graph) -> GraphRelation {
    GraphRelation {
        graph_type: graph.graph_type.as_str().to_owned(),
        model: graph.owner.kind().as_str().to_owned(),
        model_id: graph.owner.id(),
    }
}

/// Builds the response to an upload that updated a graph.
pub(super) fn render_graph_stored(stored: Stored) -> ApiResponse<GraphView> {
    let version = etag::of_graph(&stored.graph);
    ApiResponse::ok(GraphView {
        warnings: stored.warnings.into_iter().map(render_error_item).collect(),
        ..render_graph(stored.graph)
    })
    .version(version)
}

/// Builds the response to an upload that created a graph.
pub(super) fn render_graph_created(stored: Stored) -> ApiResponse<GraphView> {
    let version = etag::of_graph(&stored.graph);
    ApiResponse::created(GraphView {
        warnings: stored.warnings.into_iter().map(render_error_item).collect(),
        ..render_graph(stored.graph)
    })
    .version(version)
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
    /// `rerun` (default) or `keep`: whether a changed task definition makes its task run again.
    #[schema(example = "keep", pattern = "^(rerun|keep)$")]
    on_definition_change: Option<String>,
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
    /// Kind of owner (default: `cluster`).
    #[schema(nullable = false)]
    model: Option<OwnerWord>,
    /// ID of the owner. Required without `relations`.
    #[schema(nullable = false, example = 3, minimum = 1)]
    model_id: Option<i64>,
    /// The owner as responses show it: a list with one element, in place of `model` and `model_id`.
    #[schema(nullable = false)]
    relations: Option<Vec<GraphRelation>>,
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
