//! Operations on one run.

use axum::extract::State;
use stoker_api_types::transactions::RunView;
use stoker_model::{Run, RunId};
use stoker_orchestrator::runs::delete_run;
use stoker_store::Session;

use super::access::require_run;
use super::view::render_details;
use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, NoContent};
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
    let run = transaction(&mut session, &login, &path).await?;
    answer(&mut session, run).await
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
    delete_run(&app.orchestrator, writing, &run, &condition, force).await?;
    Ok(NoContent)
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
    let run = task(&mut session, &login, &path).await?;
    answer(&mut session, run).await
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
    delete_run(&app.orchestrator, writing, &run, &condition, force).await?;
    Ok(NoContent)
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

async fn answer(session: &mut Session, run: Run) -> ApiResult<ApiResponse<RunView>> {
    let generation = run.generation;
    Ok(ApiResponse::ok(render_details(session, run).await?).version(generation))
}
