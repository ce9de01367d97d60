//! Operations that stop runs and reset clusters.

use axum::extract::State;
use stoker_api_types::transactions::RunView;
use stoker_engine::run::StopMode;
use stoker_model::ClusterId;
use stoker_orchestrator::runs::stop_active;
use stoker_services::clusters;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::require_cluster;
use crate::api::transactions::render_run;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Stop the active run of a cluster
///
/// Task instances in flight finish; no further task instances are started.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/stop_deployment",
    params(
        ("id" = i64, Path),
        ("now" = Option<String>, Query, description = "`1` to kill task instances in flight"),
    ),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn cluster_stop(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    let how = if query.boolean("now") { StopMode::Now } else { StopMode::Graceful };
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    require_cluster(&mut session, &login, id).await?;
    drop(session);
    let run = stop_active(&app.orchestrator, &login.actor(), id, how).await?;
    Ok(ApiResponse::accepted(render_run(run)))
}

/// Reset a cluster
///
/// Deletes the applied state of all nodes, so that the next run executes all tasks again, as for newly
/// discovered nodes.
#[utoipa::path(
    put, path = "/api/v1/clusters/{id}/reset",
    params(("id" = i64, Path), ("force" = Option<String>, Query, description = "Accepted for compatibility and ignored")),
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn cluster_reset(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<RunView>> {
    let id = path.id("id", ClusterId, "Cluster")?;
    query.boolean("force");
    query.finish()?;
    let mut writing = app.change(&login).await?;
    let cluster = require_cluster(&mut writing, &login, id).await?;
    Ok(ApiResponse::accepted(render_run(clusters::cluster_reset(writing, cluster).await?)))
}
