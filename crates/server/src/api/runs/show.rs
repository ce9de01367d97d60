//! Status of one run.

use axum::extract::State;
use stoker_api_types::runs::{PartView, RunDetails};
use stoker_model::Json;

use super::{part_of, run_of};
use crate::access::caller::Authenticated;
use crate::api::transactions::{is_active, render_details};
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

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
        let run = render_details(&mut session, child).await?;
        parts.push(PartView { run, plan_id, request, last_event, is_paused });
    }
    let generation = run.generation;
    let run = render_details(&mut session, run).await?;
    Ok(ApiResponse::ok(RunDetails { run, parts }).version(generation))
}
