//! A plan at a glance.

use axum::extract::State;
use stoker_planner::{Action, Instance};

use super::access::read_plan;
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::api::matrix::{MatrixView, Window};
use crate::state::App;

/// What a plan does, tasks by nodes, a window at a time
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/matrix",
    params(
        ("id" = i64, Path),
        ("search" = Option<String>, Query, description = "Only tasks with this in their name"),
        ("nodes" = Option<String>, Query, description = "Only these nodes, comma-separated"),
        ("runs_only" = Option<String>, Query, description = "1: without tasks and nodes on which nothing runs"),
        ("task_offset" = Option<u64>, Query, description = "Leave out so many tasks at the beginning"),
        ("task_limit" = Option<u64>, Query, description = "At most so many tasks; 200 if not given, never more than 2,000"),
        ("node_offset" = Option<u64>, Query, description = "Leave out so many nodes at the beginning"),
        ("node_limit" = Option<u64>, Query, description = "At most so many nodes; 200 if not given, never more than 2,000"),
    ),
    responses((status = 200, body = MatrixView))
)]
pub(super) async fn plan_matrix(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<Answer<MatrixView>> {
    let window = Window::read(&mut query);
    query.finish()?;
    let plan = read_plan(&app, &login, &path).await?;
    let cluster = plan.record.cluster_id;
    let letter = |instance: &Instance<'_>| match instance.verdict.action() {
        Action::Run => 'p',
        Action::Skip => 'k',
    };
    let mut matrix = app.services.planning.plans.compute(move || window.of(&plan.explained.plan, letter)).await?;
    matrix.name(&mut app.store.read().await?, cluster).await?;
    Ok(Answer::ok(matrix))
}
