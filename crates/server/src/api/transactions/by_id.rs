//! Operations on one run.

use axum::extract::State;
use serde_json::json;
use stoker_model::{AuditChange, ClusterStatus, NodeStatus, Run, RunId, RunStatus};
use stoker_orchestrator::runs::stop_child_runs;
use stoker_store::{List, NodeFilter, Session, WriteTransaction};

use super::access::{is_active, require_run};
use super::view::RunView;
use crate::access::caller::Authenticated;
use crate::http::response::{ApiResponse, NoContent};
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Retrieve a transaction
#[utoipa::path(
    get, path = "/api/v1/transactions/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = RunView))
)]
pub(super) async fn transaction_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<RunView>> {
    let mut session = app.store.snapshot().await?;
    Ok(answer(transaction(&mut session, &login, &path).await?))
}

/// Delete a transaction
///
/// Deletes the run, its child runs and their history.
#[utoipa::path(
    delete, path = "/api/v1/transactions/{id}",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "1: delete the run even if it is active")),
    responses((status = 204))
)]
pub(super) async fn transaction_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    query: Query,
) -> ApiResult<NoContent> {
    let force = read_force(query)?;
    let mut writing = app.change(&login).await?;
    let run = transaction(&mut writing, &login, &path).await?;
    delete(&app, writing, &run, &condition, force).await
}

/// Retrieve a task
///
/// Runs that a later run superseded are not found.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = RunView))
)]
pub(super) async fn task_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<RunView>> {
    let mut session = app.store.snapshot().await?;
    Ok(answer(task(&mut session, &login, &path).await?))
}

/// Delete a task
///
/// Deletes the run, its child runs and their history.
#[utoipa::path(
    delete, path = "/api/v1/tasks/{id}",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "1: delete the run even if it is active")),
    responses((status = 204))
)]
pub(super) async fn task_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    query: Query,
) -> ApiResult<NoContent> {
    let force = read_force(query)?;
    let mut writing = app.change(&login).await?;
    let run = task(&mut writing, &login, &path).await?;
    delete(&app, writing, &run, &condition, force).await
}

async fn transaction(session: &mut Session, login: &Authenticated, path: &PathParams) -> ApiResult<Run> {
    let id = path.id("id", RunId, "Transaction")?;
    require_run(session, login, id, "Transaction").await
}

async fn task(session: &mut Session, login: &Authenticated, path: &PathParams) -> ApiResult<Run> {
    let id = path.id("id", RunId, "Task")?;
    let run = require_run(session, login, id, "Task").await?;
    if run.is_hidden { Err(ApiError::not_found("Task")) } else { Ok(run) }
}

fn read_force(mut query: Query) -> ApiResult<bool> {
    let force = query.boolean("force");
    query.finish()?;
    Ok(force)
}

async fn delete(
    app: &App,
    mut writing: WriteTransaction,
    run: &Run,
    condition: &IfMatch,
    force: bool,
) -> ApiResult<NoContent> {
    condition.check(run.generation)?;
    if is_active(run) && !force {
        return Err(ApiError::bad_request("You cannot delete running task manually"));
    }
    let parts = writing.run_children(run.id).await?;
    // Deleting a child run that has not started does not affect the others. Deleting an active one stops
    // those after it.
    let is_executing = is_active(run) && (run.status == RunStatus::Running || run.parent_id.is_none());
    if is_executing {
        stop_deployment(&mut writing, run).await?;
    }
    writing.run_delete(run.id).await?;
    if let Some(parent) = run.parent_id.filter(|_| is_executing) {
        stop_child_runs(&mut writing, parent).await?;
    }
    let detail = json!({"name": run.name.as_str(), "status": run.status.as_str()});
    writing.commit(AuditChange { action: "run.delete", target: format!("run {}", run.id), detail }).await?;
    // Remove the runs from their driver on this server.
    for deleted in parts.iter().chain([run]) {
        app.orchestrator.agents.remove_run(deleted.id);
    }
    Ok(NoContent)
}

/// Sets the cluster and its deploying nodes to `stopped`: after the deletion no driver would end their
/// deployment.
async fn stop_deployment(writing: &mut WriteTransaction, run: &Run) -> ApiResult<()> {
    let Some(id) = run.cluster_id else { return Ok(()) };
    let Some(mut cluster) = writing.cluster_get(id).await? else { return Ok(()) };
    if run.dry_run || cluster.status != ClusterStatus::Deployment {
        return Ok(());
    }
    cluster.status = ClusterStatus::Stopped;
    writing.cluster_update(&cluster).await?;
    let filter = NodeFilter { cluster: Some(Some(id)), ..NodeFilter::default() };
    let nodes = writing.node_list(&filter, &List::default()).await?.items;
    for mut node in nodes.into_iter().filter(|node| node.status == NodeStatus::Deploying) {
        node.status = NodeStatus::Stopped;
        writing.node_update(&node).await?;
    }
    Ok(())
}

fn answer(run: Run) -> ApiResponse<RunView> {
    let generation = run.generation;
    ApiResponse::ok(RunView::from(run)).version(generation)
}
