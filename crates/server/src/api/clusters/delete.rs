//! Deletion of a cluster.

use axum::extract::State;
use serde_json::json;
use stoker_model::{Cluster, RunName};
use stoker_store::{List, NodeFilter, WriteTransaction};

use super::access::cluster_of;
use super::create::describe;
use crate::access::caller::Authenticated;
use crate::api::transactions::{RunView, fail_active, finished_run, require_idle};
use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Delete a cluster
///
/// Deletes the cluster with its graphs, and releases its nodes.
#[utoipa::path(
    delete, path = "/api/v1/clusters/{id}",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "`1` to delete the cluster even if a run is active; the run fails")),
    responses((status = 202, body = RunView))
)]
pub(super) async fn cluster_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    mut query: Query,
) -> ApiResult<ApiResponse<RunView>> {
    let force = query.boolean("force");
    query.finish()?;
    let mut writing = app.change(&login).await?;
    let cluster = cluster_of(&mut writing, &login, &path).await?;
    condition.check(cluster.generation)?;
    let failed = if force {
        fail_active(&mut writing, cluster.id, "the environment was deleted").await?
    } else {
        require_idle(&mut writing, cluster.id, "deleting").await?;
        Vec::new()
    };
    let nodes = free_nodes(&mut writing, &cluster).await?;
    writing.cluster_delete(cluster.id).await?;
    let message = format!("Environment '{}' is deleted", cluster.name);
    let result = json!({"cluster_id": cluster.id.0, "nodes": nodes});
    let run = finished_run(&mut writing, RunName::ClusterDeletion, None, message, result).await?;
    writing.commit(describe("cluster.delete", &cluster)).await?;
    // A driver stops when its run is no longer registered.
    for run in failed {
        app.orchestrator.agents.remove_run(run);
    }
    Ok(ApiResponse::accepted(RunView::from(run)))
}

async fn free_nodes(writing: &mut WriteTransaction, cluster: &Cluster) -> ApiResult<Vec<i64>> {
    let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
    let mut ids = Vec::new();
    for mut node in writing.node_list(&filter, &List::default()).await?.items {
        node.leave_cluster();
        writing.node_update(&node).await?;
        ids.push(node.id.0);
    }
    Ok(ids)
}
