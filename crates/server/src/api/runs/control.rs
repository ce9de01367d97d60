//! Telling a run what to do.

use axum::extract::State;
use serde_json::json;
use stoker_engine::run::{Input, StopHow};
use stoker_manifest::reader::word;
use stoker_model::{Change, Run, RunName, RunStatus};
use utoipa::ToSchema;

use super::{part_of, run_of};
use crate::access::caller::Authenticated;
use crate::api::transactions::RunView;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::runs::{GraphRequest, Launch, decode_request, launch};
use crate::state::App;

const HOW: &[&str] = &["graceful", "now"];

#[derive(ToSchema)]
#[schema(as = StopRun)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct StopBody {
    /// `graceful`: what has begun is finished; `now`: it is ended.
    #[schema(example = "graceful")]
    how: Option<String>,
}

/// Stop a run
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/stop", params(("id" = i64, Path)), request_body = StopBody,
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn run_stop(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<Answer<RunView>> {
    let how = document.fields(|fields| Some(fields.optional("how", word(HOW)).unwrap_or(HOW[0])))?;
    let how = if how == HOW[1] { StopHow::Now } else { StopHow::Graceful };
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    drop(session);
    let parent = run.parent_id.unwrap_or(run.id);
    app.stop_run(&login, parent, how).await?;
    let writing = app.change(&login).await?;
    let target = format!("run {parent}");
    writing.commit(Change { action: "run.stop", target, detail: json!({}) }).await?;
    Ok(Answer::accepted(RunView::from(run)))
}

/// Begin nothing more until the run is resumed; what has begun goes on
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/pause", params(("id" = i64, Path)),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn run_pause(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<RunView>> {
    ask(&app, &login, &path, Input::Pause, "run.pause").await
}

/// Go on with a run that was paused
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/resume", params(("id" = i64, Path)),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn run_resume(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<RunView>> {
    ask(&app, &login, &path, Input::Resume, "run.resume").await
}

async fn ask(
    app: &App,
    login: &Authenticated,
    path: &PathParams,
    input: Input,
    action: &'static str,
) -> ApiResult<Answer<RunView>> {
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, login, path).await?;
    let part = part_of(&mut session, &run).await?;
    drop(session);
    if !matches!(part.status, RunStatus::Pending | RunStatus::Running) {
        return Err(ApiError::conflict(format!("run {} has ended", run.id)));
    }
    app.ask_run(part.id, input).await.map_err(|illegal| match illegal {
        Some(illegal) => ApiError::conflict(illegal.to_string()),
        None => ApiError::conflict(format!("run {} is not carried out by any server now; try again", run.id)),
    })?;
    let writing = app.change(login).await?;
    let target = format!("run {}", run.id);
    writing.commit(Change { action, target, detail: json!({"part": part.id.0}) }).await?;
    Ok(Answer::accepted(RunView::from(run)))
}

/// Do again what did not succeed in a run that has ended, with the plan it had
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/retry", params(("id" = i64, Path)),
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn run_retry(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<RunView>> {
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    let cluster = run.cluster_id.ok_or_else(|| ApiError::conflict("the cluster of the run is gone"))?;
    if matches!(run.status, RunStatus::Pending | RunStatus::Running) {
        return Err(ApiError::conflict(format!("run {} has not ended", run.id)));
    }
    let parts: Vec<Run> =
        if run.parent_id.is_some() { vec![run.clone()] } else { session.run_children(run.id).await? };
    let (mut graphs, mut manner) = (Vec::new(), None);
    for part in parts.iter().filter(|part| part.status == RunStatus::Error) {
        let Some(work) = session.run_work(part.id).await? else { continue };
        let Some((request, asked)) = decode_request(&work.options) else { continue };
        manner.get_or_insert(asked);
        // A graph that was never planned is planned now.
        let rest_of = work.plan_id.map(|_| part.id);
        graphs.push(GraphRequest { plan: work.plan_id, rest_of, ..request });
    }
    drop(session);
    let Some(manner) = manner else {
        return Err(ApiError::conflict(format!("nothing of run {} is left to be done", run.id)));
    };
    let run = launch(&app, &login, cluster, Launch { graphs, manner, name: RunName::Deploy }).await?;
    Ok(Answer::accepted(RunView::from(run)))
}
