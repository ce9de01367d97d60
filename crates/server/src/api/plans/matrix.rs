//! Matrix view of a plan.

use axum::extract::State;
use stoker_api_types::matrix::MatrixView;
use stoker_planner::{Instance, InstanceAction, Verdict};

use super::access::read_plan;
use crate::access::caller::Authenticated;
use crate::api::matrix::{Window, resolve_names};
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Retrieve the matrix of a plan
///
/// Returns the planned actions as a matrix of tasks by nodes, paginated in both directions.
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/matrix",
    params(
        ("id" = i64, Path),
        ("search" = Option<String>, Query, description = "Filter by text in the task name, case-insensitive"),
        ("nodes" = Option<String>, Query, description = "Filter by node, comma-separated"),
        ("runs_only" = Option<String>, Query, description = "1: omit tasks and nodes without an instance that runs"),
        ("task_offset" = Option<u64>, Query, description = "Number of tasks to skip"),
        ("task_limit" = Option<u64>, Query, description = "Maximum number of tasks to return (default 200, maximum 2,000)"),
        ("node_offset" = Option<u64>, Query, description = "Number of nodes to skip"),
        ("node_limit" = Option<u64>, Query, description = "Maximum number of nodes to return (default 200, maximum 2,000)"),
    ),
    responses((status = 200, body = MatrixView))
)]
pub(super) async fn plan_matrix(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<MatrixView>> {
    let window = Window::read(&mut query);
    query.finish()?;
    let plan = read_plan(&app, &login, &path).await?;
    let cluster = plan.record.cluster_id;
    let letter = |instance: &Instance<'_>| match (instance.verdict, instance.verdict.action()) {
        (Verdict::IfTriggered, _) => 'h',
        (_, InstanceAction::Run) => 'p',
        (_, InstanceAction::Skip) => 'k',
    };
    let mut matrix =
        app.services.planning.plans.compute(move || window.of(&plan.explained.plan, letter)).await?;
    resolve_names(&mut matrix, &mut app.store.read().await?, cluster).await?;
    Ok(ApiResponse::ok(matrix))
}
