//! `/plans/{id}/tasks`: snapshot of the graph that a plan was computed from.

use axum::extract::State;
use stoker_api_types::graphs::GraphTaskView;
use stoker_model::{Json, Task};

use super::access::require_plan;
use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// List the tasks of a plan
///
/// Returns the merged tasks that the plan was computed from, sorted by name.
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/tasks", params(("id" = i64, Path)),
    responses((status = 200, body = [GraphTaskView]))
)]
pub(super) async fn plan_task_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<ApiResponse<Vec<GraphTaskView>>> {
    let mut session = app.store.snapshot().await?;
    let record = require_plan(&mut session, &login, &path, "id").await?;
    let mut documents = session.documents_get(&[record.graph_id]).await?;
    let graph = documents.remove(&record.graph_id).ok_or_else(|| ApiError::not_found("Plan"))?;
    let task = |(name, fields): (String, Json)| match fields {
        Json::Object(fields) => Some(GraphTaskView::of(&Task { name, fields })),
        _ => None,
    };
    let mut tasks: Vec<GraphTaskView> = graph.into_iter().filter_map(task).collect();
    tasks.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(ApiResponse::ok(tasks))
}
