//! How far a run is.

use axum::extract::State;
use serde::Serialize;
use stoker_model::Json;
use utoipa::ToSchema;

use super::{part_of, run_of};
use crate::access::caller::Authenticated;
use crate::api::transactions::{RunView, is_active};
use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// A run with its parts.
#[derive(Serialize, ToSchema)]
#[schema(as = Run)]
pub(super) struct RunDetails {
    run: RunView,
    /// One for each graph, in their order.
    parts: Vec<PartView>,
}

/// The part of a run that executes one graph.
#[derive(Serialize, ToSchema)]
#[schema(as = RunPart)]
struct PartView {
    run: RunView,
    /// The plan it carries out; null before its turn comes.
    #[schema(example = 4)]
    plan_id: Option<i64>,
    /// What was asked for.
    #[schema(value_type = Object)]
    request: Json,
    /// The number of the last event that this answer knows of; whoever follows goes on after it.
    #[schema(example = 17)]
    last_event: i64,
    /// Whether nothing new begins until somebody resumes it.
    is_paused: bool,
}

/// A run, its parts, and the plans they carry out
#[utoipa::path(
    get, path = "/api/v1/runs/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = RunDetails))
)]
pub(super) async fn run_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<RunDetails>> {
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    let children = match run.parent_id {
        Some(_) => vec![part_of(&mut session, &run).await?],
        None => session.run_children(run.id).await?,
    };
    let mut parts = Vec::with_capacity(children.len());
    for child in children {
        let work = session.run_work(child.id).await?;
        let (plan_id, request) =
            work.map_or((None, Json::Null), |work| (work.plan_id.map(|id| id.0), work.options));
        let (last_event, is_paused) = session.run_events_now(child.id).await?;
        let is_paused = is_paused && is_active(&child);
        parts.push(PartView { run: RunView::from(child), plan_id, request, last_event, is_paused });
    }
    let generation = run.generation;
    Ok(Answer::ok(RunDetails { run: RunView::from(run), parts }).version(generation))
}
