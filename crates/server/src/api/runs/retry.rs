//! Retry of runs that have ended.

use axum::extract::State;
use stoker_manifest::reader::{list_of, nullable, string_with_length};
use stoker_orchestrator::runs::retry;
use utoipa::ToSchema;

use super::run_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::RunView;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

const NAME_CHARS_MAX: usize = 255;

/// Options of a retry.
#[derive(ToSchema)]
#[schema(as = RetryRun)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct RetryBody {
    /// Task instances to start from, as `task` or `task/nodes`. They and all of their successors are
    /// re-executed, regardless of their previous results.
    #[schema(example = json!(["netconfig/3"]))]
    from: Option<Vec<String>>,
}

/// Retry a run
///
/// Starts a new run with the plan of an ended one. It executes the task instances that did not succeed or,
/// with `from`, the given ones and their successors.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/retry", params(("id" = i64, Path)), request_body = Option<RetryBody>,
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
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
    Ok(ApiResponse::accepted(RunView::from(run)))
}

fn read_from(document: &Document) -> ApiResult<Vec<String>> {
    if document.json()?.is_null() {
        return Ok(Vec::new());
    }
    let names = list_of(string_with_length(1..=NAME_CHARS_MAX));
    let from = document.fields(|fields| Some(fields.optional("from", nullable(names)).flatten()))?;
    match from {
        Some(names) if names.is_empty() => {
            Err(ApiError::bad_request("`from` is empty; list at least one task, or omit `from`"))
        }
        from => Ok(from.unwrap_or_default()),
    }
}
