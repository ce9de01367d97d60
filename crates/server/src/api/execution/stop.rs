//! Operations that stop runs and reset clusters.

use axum::extract::State;
use serde_json::json;
use stoker_engine::run::StopMode;
use stoker_model::{AuditChange, ClusterId, ClusterStatus, NodeStatus, RunName};
use stoker_orchestrator::runs::active_run;
use stoker_orchestrator::runs::stop_run;
use stoker_store::{List, NodeFilter};

use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::api::transactions::{RunView, finished_run};
use crate::http::response::ApiResponse;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Stop the active run of a cluster
///
/// Task instances in flight are completed; no further ones are started.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/stop_deployment",
    params(
        ("id" = i64, Path),
        ("now" = Option<String>, Query, description = "`1` to kill task instances in flight"),
    ),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn cluster_stop(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let how = if query.boolean("now") { StopMode::Now } else { StopMode::Graceful };
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let cluster = require_cluster(&mut session, &login, id).await?;
    let active_run = active_run(&mut session, id).await?;
    drop(session);
    let Some(parent) = active_run else {
        return Err(ApiError::bad_request(format!(
            "Nothing to stop - deployment is not running on environment '{}'",
            cluster.id
        )));
    };
    stop_run(&app.orchestrator, &login.actor(), parent.id, how).await?;
    let mut writing = app.change(&login).await?;
    let result = json!({"stopped": parent.id.0});
    let run =
        finished_run(&mut writing, RunName::StopDeployment, Some(id), "Stop requested".to_owned(), result)
            .await?;
    let target = format!("run {}", parent.id);
    writing.commit(AuditChange { action: "run.stop", target, detail: json!({"cluster_id": id.0}) }).await?;
    Ok(ApiResponse::accepted(RunView::from(run)))
}

/// Reset a cluster
///
/// Deletes the applied state of all nodes, so that the next run executes all tasks again, as for newly
/// discovered nodes.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/reset",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "Accepted for compatibility and ignored")),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn cluster_reset(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    query.boolean("force");
    query.finish()?;
    let mut writing = app.change(&login).await?;
    let mut cluster = require_cluster(&mut writing, &login, id).await?;
    if let Some(run) = active_run(&mut writing, id).await? {
        return Err(ApiError::conflict(format!(
            "task {} ({}) is {} on environment {id}; stop it first",
            run.id, run.name, run.status
        )));
    }
    let filter = NodeFilter { cluster: Some(Some(id)), ..NodeFilter::default() };
    let nodes = writing.node_list(&filter, &List::default()).await?.items;
    let uids: Vec<String> =
        nodes.iter().map(|node| node.id.to_string()).chain(["master".to_owned()]).collect();
    let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
    writing.successes_delete(id, &uids).await?;
    let n_nodes = nodes.len();
    for mut node in nodes {
        let roles = std::mem::take(&mut node.roles);
        node.pending_roles.extend(roles);
        node.pending_roles.sort_unstable();
        node.pending_roles.dedup();
        node.pending_addition = true;
        node.status = NodeStatus::Discover;
        node.progress = 0;
        (node.error_type, node.error_msg) = (None, None);
        writing.node_update(&node).await?;
    }
    cluster.status = ClusterStatus::New;
    writing.cluster_update(&cluster).await?;
    let message = format!("Environment '{}' was successfully reset", cluster.name);
    let run = finished_run(&mut writing, RunName::ResetEnvironment, Some(id), message, json!({})).await?;
    let target = format!("cluster {id}");
    writing.commit(AuditChange { action: "cluster.reset", target, detail: json!({"n_nodes": n_nodes}) }).await?;
    Ok(ApiResponse::accepted(RunView::from(run)))
}
