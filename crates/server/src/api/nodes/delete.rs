//! Node deletion.

use std::collections::HashSet;

use axum::extract::State;
use serde_json::json;
use stoker_model::{AuditChange, ClusterId, Node, NodeId, Run, RunName};
use stoker_store::{List, NodeFilter, WriteTransaction};

use super::access::node_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::{RunView, finished_run, require_idle};
use crate::http::response::ApiResponse;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
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
        (status = 404, body = crate::http::error::Envelope, description = "A node does not exist")
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
    Ok(ApiResponse::ok(RunView::from(delete(&app, writing, &nodes).await?)))
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
    Ok(ApiResponse::ok(RunView::from(delete(&app, writing, &[node]).await?)))
}

async fn delete(app: &App, mut writing: WriteTransaction, nodes: &[Node]) -> ApiResult<Run> {
    let clusters: HashSet<Option<ClusterId>> = nodes.iter().map(|node| node.cluster_id).collect();
    for cluster_id in clusters.iter().flatten() {
        require_idle(&mut writing, *cluster_id, "deleting nodes").await?;
    }
    let mut agents = Vec::new();
    for node in nodes {
        let uid = node.id.to_string();
        let digest = writing.agent_digest(&uid).await?;
        agents.push((uid, digest));
        writing.node_delete(node.id).await?;
    }
    let ids: Vec<i64> = nodes.iter().map(|node| node.id.0).collect();
    let detail = json!({"nodes": ids});
    let message = format!("{} node(s) deleted", ids.len());
    // A deletion of nodes of several clusters is recorded without a cluster.
    let cluster_id = if clusters.len() == 1 { clusters.into_iter().next().flatten() } else { None };
    let run = finished_run(&mut writing, RunName::NodeDeletion, cluster_id, message, detail.clone()).await?;
    let target = match &ids[..] {
        [id] => format!("node {id}"),
        _ => "nodes".to_owned(),
    };
    writing.commit(AuditChange { action: "node.delete", target, detail }).await?;
    // Close agent connections only after the commit.
    for (uid, digest) in agents {
        app.orchestrator.revoke_agent(&uid, digest);
    }
    Ok(run)
}
