//! Control of active runs: stop, pause, resume.

use axum::extract::State;
use serde_json::json;
use stoker_engine::run::{Input, StopMode};
use stoker_manifest::reader::one_of;
use stoker_model::AuditChange;
use stoker_orchestrator::runs::{control_run, stop_run};
use utoipa::ToSchema;

use super::run_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::RunView;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

const STOP_MODES: &[&str] = &["graceful", "now"];

/// Options of a stop request.
#[derive(ToSchema)]
#[schema(as = StopRun)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct StopBody {
    /// `graceful` (default): running task instances finish; `now`: they are terminated.
    #[schema(example = "graceful")]
    how: Option<String>,
}

/// Stop a run
///
/// Stops the whole run, including the remaining graphs.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/stop", params(("id" = i64, Path)), request_body = StopBody,
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn run_stop(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<RunView>> {
    let how =
        document.fields(|fields| Some(fields.optional("how", one_of(STOP_MODES)).unwrap_or(STOP_MODES[0])))?;
    let how = if how == STOP_MODES[1] { StopMode::Now } else { StopMode::Graceful };
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    drop(session);
    let parent = run.parent_id.unwrap_or(run.id);
    stop_run(&app.orchestrator, &login.actor(), parent, how).await?;
    let writing = app.change(&login).await?;
    let target = format!("run {parent}");
    writing.commit(AuditChange { action: "run.stop", target, detail: json!({}) }).await?;
    Ok(ApiResponse::accepted(RunView::from(run)))
}

/// Pause a run
///
/// Starts no new task instances until the run is resumed. Running task instances continue.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/pause", params(("id" = i64, Path)),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
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
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
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
    let child = control_run(&app.orchestrator, run.parent_id.unwrap_or(run.id), &input).await?;
    let writing = app.change(login).await?;
    let target = format!("run {}", run.id);
    writing.commit(AuditChange { action, target, detail: json!({"part": child.0}) }).await?;
    Ok(ApiResponse::accepted(RunView::from(run)))
}
