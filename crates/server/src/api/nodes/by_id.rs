//! Operations on one node.

use axum::extract::State;
use stoker_api_types::Request as _;
use stoker_api_types::nodes::{NodeBody, NodeView};
use stoker_model::Node;
use stoker_services::nodes;

use super::access::node_of;
use super::read::read_body;
use super::view::{render_node, render_node_with_facts, render_updated};
use crate::access::caller::Authenticated;
use crate::api::patch::patch_as_put;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Retrieve a node
#[utoipa::path(
    get, path = "/api/v1/nodes/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = NodeView))
)]
pub(super) async fn node_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<NodeView>> {
    let mut session = app.store.snapshot().await?;
    let node = node_of(&mut session, &login, &path).await?;
    let generation = node.generation;
    Ok(ApiResponse::ok(render_node_with_facts(node)).version(generation))
}

/// Update a node
///
/// Omitted fields are unchanged. Read-only fields must have the stored values if they are present. Recommendations of roles
/// that the node receives are reported in `warnings`.
#[utoipa::path(
    put, path = "/api/v1/nodes/{id}", params(("id" = i64, Path)), request_body = NodeBody,
    responses((status = 200, body = NodeView))
)]
pub(super) async fn node_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<NodeView>> {
    let update = document.fields(read_body)?;
    let mut writing = app.change(&login).await?;
    let node = node_of(&mut writing, &login, &path).await?;
    document.check_read_only(NodeBody::READ_ONLY, &render_node(node.clone()))?;
    let updated = nodes::node_update(&app.settings, writing, node, &condition, update).await?;
    let generation = updated.node.generation;
    Ok(ApiResponse::ok(render_updated(updated)).version(generation))
}

patch_as_put!(
    pub(super) node_patch = node_update,
    "/api/v1/nodes/{id}",
    "Update a node",
    NodeBody => NodeView
);

pub(super) fn answer(node: Node) -> ApiResponse<NodeView> {
    let generation = node.generation;
    ApiResponse::ok(render_node(node)).version(generation)
}
