//! `/clusters/{id}/drift_checks`: start, list and show checks.

use axum::extract::State;
use stoker_api_types::drift::{DriftCheckView, NewDriftCheckBody};
use stoker_model::{DriftCheck, DriftCheckId, Micros, NodeId};
use stoker_orchestrator::drift::start_check;
use stoker_services::clock;
use stoker_services::planning::CheckScope;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::cluster_of;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

const CLASS: &str = "Drift check";

fn render_check(check: DriftCheck, now: Micros) -> DriftCheckView {
    let is_lost = check.ended_at.is_none() && !check.is_running(now);
    let message = check.problem.clone().or(is_lost.then(|| "the server that performed it ended".to_owned()));
    let status = match (check.is_running(now), &message) {
        (true, _) => "running",
        (false, None) => "ready",
        (false, Some(_)) => "error",
    };
    DriftCheckView {
        id: check.id.0,
        cluster: check.cluster_id.0,
        graph_type: check.graph_type.as_str().to_owned(),
        status: status.to_owned(),
        message,
        created_by: check.created_by,
        started_at: clock::plain(check.started_at),
        ended_at: check.ended_at.map(clock::plain),
        n_in_sync: check.n_in_sync,
        n_changed: check.n_changed,
        n_drifted: check.n_drifted,
        n_unknown: check.n_unknown,
    }
}

/// List the drift checks of a cluster
///
/// Returns the newest first. The last 100 checks of a cluster are retained.
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/drift_checks", params(("id" = i64, Path), Paging),
    responses((status = 200, body = [DriftCheckView]))
)]
pub(super) async fn drift_check_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<DriftCheckView>>> {
    let list = list(&mut query);
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let (page, now) = (session.drift_check_list(cluster.id, &list).await?, app.clock.now());
    ApiResponse::page(&list, page, |check| render_check(check, now))
}

/// Check nodes for drift
///
/// Compares the nodes with the state that tasks last applied, in the background. Changes nothing on the nodes. Only tasks
/// of types that describe a state are compared, such as `file`, `package` and `service`.
#[utoipa::path(
    post, path = "/api/v1/clusters/{id}/drift_checks", params(("id" = i64, Path)), request_body = NewDriftCheckBody,
    responses((status = 202, body = DriftCheckView))
)]
pub(super) async fn drift_check_create(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<DriftCheckView>> {
    let NewDriftCheckBody { graph_type, nodes, tasks } = document.request()?;
    let nodes = nodes.map(|ids| ids.into_iter().map(NodeId).collect());
    let scope = CheckScope { graph_type: graph_type.unwrap_or_default(), nodes, tasks };
    let mut session = app.store.read().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    drop(session);
    app.limits.check_plan_rate(&login)?;
    let check = start_check(&app.orchestrator, &login.actor(), cluster, scope).await?;
    Ok(ApiResponse::accepted(render_check(check, app.clock.now())))
}

/// Retrieve a drift check
#[utoipa::path(
    get, path = "/api/v1/clusters/{id}/drift_checks/{check_id}",
    params(("id" = i64, Path), ("check_id" = i64, Path)),
    responses((status = 200, body = DriftCheckView))
)]
pub(super) async fn drift_check_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<DriftCheckView>> {
    let mut session = app.store.snapshot().await?;
    let cluster = cluster_of(&mut session, &login, &path).await?;
    let id = path.id("check_id", DriftCheckId, CLASS)?;
    let check = session.drift_check_get(id).await?.filter(|check| check.cluster_id == cluster.id);
    let check = check.ok_or_else(|| ApiError::not_found(CLASS))?;
    Ok(ApiResponse::ok(render_check(check, app.clock.now())))
}
