//! Control of active runs: stop, pause, resume.

use axum::extract::State;
use serde_json::json;
use stoker_api_types::runs::StopBody;
use stoker_api_types::transactions::RunView;
use stoker_engine::run::{Input, StopHow};
use stoker_model::Change;
use stoker_orchestrator::runs::{control_run, stop_run};

use super::run_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::render_run;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
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
) -> ApiResult<Answer<RunView>> {
    let StopBody { how } = document.request()?;
    let how = if how == Some("now") { StopHow::Now } else { StopHow::Graceful };
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    drop(session);
    let parent = run.parent_id.unwrap_or(run.id);
    stop_run(&app.orchestrator, &login.actor(), parent, how).await?;
    let writing = app.change(&login).await?;
    let target = format!("run {parent}");
    writing.commit(Change { action: "run.stop", target, detail: json!({}) }).await?;
    Ok(Answer::accepted(render_run(run)))
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
) -> ApiResult<Answer<RunView>> {
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
) -> ApiResult<Answer<RunView>> {
    send_control(&app, &login, &path, Input::Resume, "run.resume").await
}

async fn send_control(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    input: Input,
    action: &'static str,
) -> ApiResult<Answer<RunView>> {
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, login, path).await?;
    drop(session);
    let child = control_run(&app.orchestrator, run.parent_id.unwrap_or(run.id), &input).await?;
    let writing = app.change(login).await?;
    let target = format!("run {}", run.id);
    writing.commit(Change { action, target, detail: json!({"part": child.0}) }).await?;
    Ok(Answer::accepted(render_run(run)))
}
