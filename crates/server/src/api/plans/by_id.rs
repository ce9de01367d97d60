//! Operations on one plan.

use axum::extract::State;
use serde_json::json;
use stoker_api_types::plans::PlanSummary;
use stoker_model::AuditChange;
use stoker_services::planning::StoredPlan;

use super::access::{read_plan, require_plan};
use super::view::render_plan_summary;
use crate::access::caller::Authenticated;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

/// Retrieve a plan
///
/// Returns a summary: number of instances per task, estimated duration, warnings and excluded nodes.
#[utoipa::path(
    get, path = "/api/v1/plans/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = PlanSummary))
)]
pub(super) async fn plan_show(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<PlanSummary>> {
    let plan = read_plan(&app, &login, &path).await?;
    let (cluster, graph_type) = (plan.record.cluster_id, &plan.record.graph_type);
    let mut session = app.store.read().await?;
    let durations = session.task_durations(cluster, graph_type).await?;
    let last_applied_at = session.last_applied_at(cluster, graph_type).await?;
    let extras = StoredPlan::extras(&app.services.planning, &mut session, plan.record.id).await?;
    drop(session);
    let summary =
        move || render_plan_summary(plan.record, &plan.explained, &extras, &durations, last_applied_at);
    let summary = app.services.planning.plans.compute(summary).await?;
    Ok(ApiResponse::ok(summary))
}

/// Delete a plan
///
/// Deletes the plan and the state snapshots that no other plan uses.
#[utoipa::path(
    delete, path = "/api/v1/plans/{id}", params(("id" = i64, Path)), responses((status = 204))
)]
pub(super) async fn plan_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<NoContent> {
    let mut writing = app.change(&login).await?;
    let record = require_plan(&mut writing, &login, &path, "id").await?;
    writing.plan_delete(record.id).await?;
    let detail = json!({"cluster_id": record.cluster_id.0, "graph_type": record.graph_type.as_str()});
    writing
        .commit(AuditChange { action: "plan.delete", target: format!("plan {}", record.id), detail })
        .await?;
    Ok(NoContent)
}
