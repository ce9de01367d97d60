//! Retry of runs that have ended.

use axum::extract::State;
use stoker_api_types::runs::RetryBody;
use stoker_api_types::transactions::RunView;
use stoker_orchestrator::runs::retry;

use super::run_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::render_run;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Retry a run
///
/// Starts a new run with the plan of an ended run. The new run executes the task instances that did not
/// succeed or, with `from`, the given task instances and their successors.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/retry", params(("id" = i64, Path)), request_body = Option<RetryBody>,
    responses((status = 202, body = RunView), (status = 409, body = stoker_api_types::error::Envelope))
)]
pub(super) async fn run_retry(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Option<Document>,
) -> ApiResult<ApiResponse<RunView>> {
    let from = document.as_ref().map(read_from).transpose()?.unwrap_or_default();
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    drop(session);
    let run = retry(&app.orchestrator, &login.actor(), &run, from).await?;
    Ok(ApiResponse::accepted(render_run(run)))
}

fn read_from(document: &Document) -> ApiResult<Vec<String>> {
    if document.json()?.is_null() {
        return Ok(Vec::new());
    }
    match document.request::<RetryBody>()?.from {
        Some(names) if names.is_empty() => {
            Err(ApiError::bad_request("`from` is empty; list at least one task, or omit `from`"))
        }
        from => Ok(from.unwrap_or_default()),
    }
}
