//! Operations on one node.

use axum::extract::State;
use serde_json::json;
use stoker_model::Node;

use super::access::{describe, node_of};
use super::change::{Changed, change, within_quotas};
use super::read::read_body;
use super::view::{NodeBody, NodeView};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
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
    Ok(ApiResponse::ok(NodeView::with_facts(node)).version(generation))
}

/// Update a node
///
/// Omitted fields are unchanged.
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
    let body = document.fields(read_body)?;
    let mut writing = app.change(&login).await?;
    let node = node_of(&mut writing, &login, &path).await?;
    condition.check(node.generation)?;
    if body.id.is_some_and(|id| id != node.id) {
        return Err(ApiError::bad_request(format!("cannot change the ID of node {}", node.id)));
    }
    let Changed { node, gainer } = change(&mut writing, node, body).await?;
    within_quotas(&app, &mut writing, gainer.into_iter()).await?;
    let detail = json!({"name": node.name, "cluster_id": node.cluster_id.map(|id| id.0)});
    writing.commit(describe("node.update", &node, detail)).await?;
    Ok(answer(node))
}

/// Update a node
///
/// Same as `PUT`.
#[utoipa::path(
    patch, path = "/api/v1/nodes/{id}", params(("id" = i64, Path)), request_body = NodeBody,
    responses((status = 200, body = NodeView))
)]
pub(super) async fn node_patch(
    app: State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<NodeView>> {
    node_update(app, login, path, condition, document).await
}

pub(super) fn answer(node: Node) -> ApiResponse<NodeView> {
    let generation = node.generation;
    ApiResponse::ok(NodeView::from(node)).version(generation)
}
