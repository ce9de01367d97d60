//! Control of active runs: stop, pause, resume.

use axum::extract::State;
use stoker_api_types::runs::StopBody;
use stoker_api_types::transactions::RunView;
use stoker_engine::run::{Input, StopMode};
use stoker_orchestrator::runs::{control_run, stop_run};

use super::run_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::render_run;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Stop a run
///
/// Stops the whole run, including the remaining graphs.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/stop", params(("id" = i64, Path)), request_body = StopBody,
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn run_stop(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<RunView>> {
    let StopBody { how } = document.request()?;
    let how = if how == Some("now") { StopMode::Now } else { StopMode::Graceful };
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    drop(session);
    stop_run(&app.orchestrator, &login.actor(), &run, how).await?;
    Ok(ApiResponse::accepted(render_run(run)))
}

/// Pause a run
///
/// Starts no new task instances until the run is resumed. Running task instances continue.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/pause", params(("id" = i64, Path)),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn run_pause(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<RunView>> {
    send_control(&app, &login, &path, Input::Pause, "run.pause").await
}

/// Resume a paused run
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/resume", params(("id" = i64, Path)),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn run_resume(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<RunView>> {
    send_control(&app, &login, &path, Input::Resume, "run.resume").await
}

async fn send_control(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    input: Input,
    action: &'static str,
) -> ApiResult<ApiResponse<RunView>> {
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, login, path).await?;
    drop(session);
    control_run(&app.orchestrator, &login.actor(), &run, &input, action).await?;
    Ok(ApiResponse::accepted(render_run(run)))
}
