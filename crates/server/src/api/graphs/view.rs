//! Responses about graphs.

use stoker_api_types::graphs::{GraphRelation, GraphTaskView, GraphView};
use stoker_model::{Graph, GraphMetadata};
use stoker_services::graphs::Stored;

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
        tasks: graph.tasks.iter().map(|stored| GraphTaskView::of(&stored.task)).collect(),
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
