//! Servers that share the database, and the runs that each of them drives.

use axum::extract::State;
use serde::Serialize;
use stoker_model::{ServerRecord, Micros, Permission, RunId};
use stoker_services::background::TaskStatus;
use stoker_services::clock;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::routes::Routes;
use crate::http::response::ApiResponse;
use crate::http::error::ApiResult;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("server").add(Permission::Administer, routes!(server_list)).finish()
}

/// Server of the group.
#[derive(Serialize, ToSchema)]
#[schema(as = Server)]
struct ServerView {
    /// ID of the server, new with every start. `embedded` if the server has an embedded database.
    id: String,
    /// Name of the server.
    #[schema(example = "controller-1")]
    name: String,
    /// Listen address.
    #[schema(example = "0.0.0.0:8000")]
    address: String,
    /// Version of the server.
    #[schema(example = "0.1.0")]
    version: String,
    /// Whether the heartbeat of the server is recent.
    is_alive: bool,
    /// Whether the server receives messages of other servers over NATS.
    hears_bus: bool,
    /// Start time.
    started_at: String,
    /// Time of the last heartbeat.
    seen_at: String,
    /// IDs of the runs and child runs that the server drives.
    runs: Vec<i64>,
    /// Background tasks. Only for the server that handles the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    background_tasks: Option<Vec<BackgroundTaskView>>,
}

/// Background loop of the server.
#[derive(Serialize, ToSchema)]
#[schema(as = BackgroundTask)]
struct BackgroundTaskView {
    /// Name of the task.
    #[schema(example = "run leases")]
    name: &'static str,
    /// Seconds between two passes; absent for a task that waits for events.
    #[serde(skip_serializing_if = "Option::is_none")]
    period_seconds: Option<f64>,
    /// Start of the latest pass.
    started_at: Option<String>,
    /// End of the latest pass that succeeded.
    succeeded_at: Option<String>,
    /// End of the latest pass that failed.
    failed_at: Option<String>,
    /// Error of the latest failed pass.
    error: Option<String>,
    /// Number of failed passes since the server started.
    n_failures: u64,
    /// Whether the latest finished pass failed.
    is_failing: bool,
}

impl From<TaskStatus> for BackgroundTaskView {
    fn from(status: TaskStatus) -> Self {
        let is_failing = status.is_failing();
        let (failed_at, error) = status.failure.unzip();
        Self {
            name: status.name,
            period_seconds: status.period.map(|period| period.as_secs_f64()),
            started_at: status.started_at.map(clock::plain),
            succeeded_at: status.succeeded_at.map(clock::plain),
            failed_at: failed_at.map(clock::plain),
            error,
            n_failures: status.n_failures,
            is_failing,
        }
    }
}

impl ServerView {
    fn new(member: ServerRecord, held: &[(String, RunId)], heard_since: Micros) -> Self {
        let runs = held.iter().filter(|(owner, _)| *owner == member.id).map(|(_, run)| run.0).collect();
        Self {
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
}

/// List servers
///
/// Returns the servers that share the database, including those that stopped recently.
#[utoipa::path(get, path = "/api/v1/servers", responses((status = 200, body = [ServerView])))]
async fn server_list(State(app): State<App>) -> ApiResult<ApiResponse<Vec<ServerView>>> {
    let now = app.clock.now();
    let mut session = app.store.snapshot().await?;
    let mut members = session.servers().await?;
    let held = session.runs_leased(now).await?;
    let orchestrator = &app.orchestrator;
    // The record of this server in memory is newer than its stored heartbeat.
    members.retain(|member| member.id != orchestrator.context.owner);
    let alive_since = orchestrator.context.alive_since(now);
    let tasks = orchestrator.background.statuses().into_iter().map(BackgroundTaskView::from);
    let own = ServerView {
        background_tasks: Some(tasks.collect()),
        ..ServerView::new(orchestrator.peers.member(), &held, alive_since)
    };
    let others = members.into_iter().map(|member| ServerView::new(member, &held, alive_since));
    Ok(ApiResponse::ok(others.chain([own]).collect()))
}
