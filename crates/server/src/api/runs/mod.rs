//! Runs: status, events, output, control and retry.

mod control;
mod events;
mod matrix;
mod output;
mod retry;
mod show;

use stoker_model::{Permission, Run, RunId};
use stoker_store::Session;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::api::transactions::require_run;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("runs")
        .add(Permission::Read, routes!(show::run_show))
        .add_serving(Permission::Read, &[events::STREAM], routes!(events::run_event_list))
        .add(Permission::Read, routes!(output::run_output))
        .add(Permission::Read, routes!(matrix::run_matrix))
        .add_unversioned(Permission::Operate, routes!(control::run_stop))
        .add_unversioned(Permission::Operate, routes!(control::run_pause))
        .add_unversioned(Permission::Operate, routes!(control::run_resume))
        .add_unversioned(Permission::Operate, routes!(retry::run_retry))
        .finish()
}

async fn run_of(session: &mut Session, login: &Authenticated, path: &PathParams) -> ApiResult<Run> {
    let id = path.id("id", RunId, "Run")?;
    require_run(session, login, id, "Run").await
}

/// Returns the child run to report on: the run itself if it is a child run, otherwise the active or the last
/// started child run.
async fn part_of(session: &mut Session, run: &Run) -> ApiResult<Run> {
    if run.parent_id.is_some() {
        return Ok(run.clone());
    }
    let parts = session.run_children(run.id).await?;
    let last_started = parts.iter().rev().find(|part| part.started_at.is_some());
    Ok(last_started.or(parts.first()).unwrap_or(run).clone())
}
