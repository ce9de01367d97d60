//! Status of one run.

use axum::extract::State;
use serde::Serialize;
use stoker_model::Json;
use utoipa::ToSchema;

use super::{part_of, run_of};
use crate::access::caller::Authenticated;
use crate::api::transactions::{RunView, is_active};
use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

/// Run with its child runs.
#[derive(Serialize, ToSchema)]
#[schema(as = Run)]
pub(super) struct RunDetails {
    /// The run.
    run: RunView,
    /// Child runs, one per graph, in execution order.
    parts: Vec<PartView>,
}

/// Child run: the execution of one graph.
#[derive(Serialize, ToSchema)]
#[schema(as = RunPart)]
struct PartView {
    /// The child run.
    run: RunView,
    /// ID of the plan that is executed. Null until the graph is planned.
    #[schema(example = 4)]
    plan_id: Option<i64>,
    /// Options with which the graph was requested.
    #[schema(value_type = Object)]
    request: Json,
    /// Sequence number of the last event that this response includes. To follow the run, request the events
    /// after it.
    #[schema(example = 17)]
    last_event: i64,
    /// Whether the child run is paused: no new task instances start until it is resumed.
    is_paused: bool,
}

/// Retrieve a run
///
/// Returns the run, its child runs and their plans.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = RunDetails))
)]
pub(super) async fn run_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<RunDetails>> {
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
    Ok(ApiResponse::ok(RunDetails { run: RunView::from(run), parts }).version(generation))
}
