//! Matrix view of a run.

use std::collections::HashMap;

use axum::extract::State;
use stoker_model::{HistoryRecord, HistoryStatus, Json, RunStatus};
use stoker_orchestrator::runs::OUTCOME;
use stoker_planner::{InstanceAction, Instance};
use stoker_services::planning::StoredPlan;
use stoker_store::HistoryFilter;

use super::{part_of, run_of};
use crate::access::caller::Authenticated;
use crate::api::matrix::{MatrixView, Window};
use crate::http::response::ApiResponse;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

/// Retrieve the matrix of a run
///
/// Returns the current status of each task instance as a matrix of tasks by nodes, paginated in both
/// directions.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/matrix",
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
    responses((status = 200, body = MatrixView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn run_matrix(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<MatrixView>> {
    let window = Window::read(&mut query);
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    let part = part_of(&mut session, &run).await?;
    let unplanned = || ApiError::conflict(format!("run {} has no plan yet", run.id));
    let plan_id = session.run_work(part.id).await?.and_then(|work| work.plan_id).ok_or_else(unplanned)?;
    let record = session.plan_get(plan_id).await?.ok_or_else(unplanned)?;
    let cluster = record.cluster_id;
    let stored = StoredPlan::read(&app.services.planning, &mut session, record).await?;
    let has_ended = !matches!(part.status, RunStatus::Pending | RunStatus::Running);
    let planned = move |instance: &Instance<'_>| match instance.verdict.action() {
        InstanceAction::Run if !has_ended => 'p',
        _ => 'k',
    };
    let mut matrix =
        app.services.planning.plans.compute(move || window.of(&stored.explained.plan, planned)).await?;
    let filter = HistoryFilter {
        nodes: Some(matrix.nodes.clone()),
        task_names: Some(matrix.tasks.clone()),
        ..HistoryFilter::default()
    };
    let records = session.history_list(&[part.id], &filter).await?;
    matrix.name(&mut session, cluster).await?;
    drop(session);
    apply_history(&mut matrix, &records);
    Ok(ApiResponse::ok(matrix))
}

/// Replaces planned cells with the recorded status of instances.
fn apply_history(matrix: &mut MatrixView, records: &[HistoryRecord]) {
    let positions = |names: &[String]| -> HashMap<String, usize> {
        names.iter().cloned().enumerate().map(|(position, name)| (name, position)).collect()
    };
    let (rows, columns) = (positions(&matrix.tasks), positions(&matrix.nodes));
    let mut cells: Vec<Vec<char>> = matrix.cells.iter().map(|row| row.chars().collect()).collect();
    for record in records {
        if let (Some(row), Some(column)) = (rows.get(&record.task_name), columns.get(&record.node_id)) {
            cells[*row][*column] = letter(record);
        }
    }
    matrix.cells = cells.into_iter().map(|row| row.into_iter().collect()).collect();
}

fn letter(record: &HistoryRecord) -> char {
    let outcome = record.custom.get(OUTCOME).and_then(Json::as_str);
    match (record.status, outcome) {
        (_, Some("stopped")) => 't',
        (_, Some("interrupted")) => 'i',
        (_, Some("blocked")) => 'b',
        (HistoryStatus::Pending, _) => 'p',
        (HistoryStatus::Running, _) => 'r',
        (HistoryStatus::Ready, _) => 's',
        (HistoryStatus::Error, _) => 'f',
        (HistoryStatus::Skipped, _) => 'k',
    }
}
