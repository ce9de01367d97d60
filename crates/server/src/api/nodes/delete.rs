//! Node deletion.

use std::collections::HashSet;

use axum::extract::State;
use stoker_api_types::transactions::RunView;
use stoker_model::{Node, NodeId, Run};
use stoker_services::nodes::nodes_delete;
use stoker_store::{List, NodeFilter, WriteTransaction};

use super::access::node_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::render_run;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Delete multiple nodes
///
/// The request is atomic: if one node does not exist, no node is deleted. Fails while a run of one of their
/// clusters is active.
#[utoipa::path(
    delete, path = "/api/v1/nodes",
    params(("ids" = String, Query, description = "IDs of the nodes to delete, comma-separated")),
    responses(
        (status = 200, body = RunView),
        (status = 404, body = stoker_api_types::error::Envelope, description = "A node does not exist")
    )
)]
pub(super) async fn node_delete_all(
    State(app): State<App>,
    login: Authenticated,
    mut query: Query,
) -> ApiResult<ApiResponse<RunView>> {
    let ids = query.ids("ids");
    query.finish()?;
    let ids = ids.ok_or_else(|| ApiError::bad_request("missing `ids`: specify the nodes to delete"))?;
    let ids: HashSet<NodeId> = ids.into_iter().map(NodeId).collect();
    let mut writing = app.change(&login).await?;
    let filter = NodeFilter { ids: Some(ids.iter().copied().collect()), ..NodeFilter::default() };
    let nodes = writing.node_list(&filter, &List::default()).await?.items;
    if nodes.len() != ids.len() {
        return Err(ApiError::not_found("NodeCollection"));
    }
    Ok(ApiResponse::ok(render_run(delete(&app, writing, &nodes).await?)))
}

/// Delete a node
#[utoipa::path(
    delete, path = "/api/v1/nodes/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = RunView))
)]
pub(super) async fn node_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<ApiResponse<RunView>> {
    let mut writing = app.change(&login).await?;
    let node = node_of(&mut writing, &login, &path).await?;
    condition.check(node.generation)?;
    Ok(ApiResponse::ok(render_run(delete(&app, writing, &[node]).await?)))
}

async fn delete(app: &App, writing: WriteTransaction, nodes: &[Node]) -> ApiResult<Run> {
    let deleted = nodes_delete(writing, nodes).await?;
    // Close agent connections only after the commit.
    for (uid, digest) in deleted.agents {
        app.orchestrator.revoke_agent(&uid, digest);
    }
    Ok(deleted.run)
}
