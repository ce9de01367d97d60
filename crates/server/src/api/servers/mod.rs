//! Servers that share the database, and the runs that each of them drives.

use axum::extract::State;
use stoker_api_types::servers::{BackgroundTaskView, ServerView};
use stoker_model::{Micros, Permission, RunId, ServerRecord};
use stoker_services::background::TaskStatus;
use stoker_services::clock;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::http::error::ApiResult;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("server").add(Permission::Administer, routes!(server_list)).finish()
}

fn render_background_task(status: TaskStatus, now: Micros) -> BackgroundTaskView {
    let (is_failing, is_overdue) = (status.is_failing(), status.is_overdue(now));
    let (failed_at, error) = status.failure.unzip();
    BackgroundTaskView {
        name: status.name.to_owned(),
        period_seconds: status.period.map(|period| period.as_secs_f64()),
        started_at: status.started_at.map(clock::plain),
        succeeded_at: status.succeeded_at.map(clock::plain),
        failed_at: failed_at.map(clock::plain),
        error,
        n_failures: status.n_failures,
        is_failing,
        has_ended: status.has_ended,
        is_overdue,
    }
}

fn render_server(member: ServerRecord, leases: &[(String, RunId)], heard_since: Micros) -> ServerView {
    let runs = leases.iter().filter(|(owner, _)| *owner == member.id).map(|(_, run)| run.0).collect();
    ServerView {
        is_alive: member.heartbeat_at > heard_since,
        hears_bus: member.receives_bus,
        started_at: clock::plain(member.started_at),
        seen_at: clock::plain(member.heartbeat_at),
        id: member.id,
        name: member.name,
        address: member.address,
        version: member.version,
        runs,
        background_tasks: None,
    }
}

/// List servers
///
/// Returns the servers that share the database, including those that stopped recently.
#[utoipa::path(get, path = "/api/v1/servers", responses((status = 200, body = [ServerView])))]
async fn server_list(State(app): State<App>) -> ApiResult<ApiResponse<Vec<ServerView>>> {
    let now = app.clock.now();
    let mut session = app.store.snapshot().await?;
    let mut members = session.servers().await?;
    let leases = session.runs_leased(now).await?;
    let orchestrator = &app.orchestrator;
    // The record of this server in memory is newer than its stored heartbeat.
    members.retain(|member| member.id != orchestrator.context.owner);
    let alive_since = orchestrator.context.alive_since(now);
    let tasks = orchestrator.background.statuses().into_iter();
    let tasks = tasks.map(|status| render_background_task(status, now));
    let own = ServerView {
        background_tasks: Some(tasks.collect()),
        ..render_server(orchestrator.peers.member(), &leases, alive_since)
    };
    let others = members.into_iter().map(|member| render_server(member, &leases, alive_since));
    Ok(ApiResponse::ok(others.chain([own]).collect()))
}
