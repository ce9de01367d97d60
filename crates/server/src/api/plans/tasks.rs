//! `/plans/{id}/tasks`: the graph that a plan was made from, as it was then.

use axum::extract::State;
use stoker_manifest::task::render;
use stoker_model::{Json, JsonMap, Task};

use super::access::require_plan;
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::state::App;

/// The merged tasks that a plan was made from, in the order of their names
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/tasks", params(("id" = i64, Path)),
    responses((status = 200, body = [Object]))
)]
pub(super) async fn plan_task_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
) -> ApiResult<Answer<Vec<JsonMap>>> {
    let mut session = app.store.snapshot().await?;
    let record = require_plan(&mut session, &login, &path, "id").await?;
    let mut documents = session.documents_get(&[record.graph_id]).await?;
    let graph = documents.remove(&record.graph_id).ok_or_else(|| ApiError::not_found("Plan"))?;
    let task = |(name, fields): (String, Json)| match fields {
        Json::Object(fields) => Some(render(&Task { name, fields })),
        _ => None,
    };
    let mut tasks: Vec<JsonMap> = graph.into_iter().filter_map(task).collect();
    tasks.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
    Ok(Answer::ok(tasks))
}
