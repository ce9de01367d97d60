//! Retry of runs that have ended.

use axum::extract::State;
use stoker_manifest::reader::{list_of, nullable, string_with_length};
use stoker_model::{HistoryStatus, Json, Run, RunName, RunStatus, RunExecution};
use stoker_orchestrator::runs::{GraphRequest, Launch, RunOptions, decode_request, launch};
use stoker_planner::resolve_reference;
use stoker_services::planning::StoredPlan;
use stoker_store::{HistoryFilter, Session};
use utoipa::ToSchema;

use super::run_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::{RunView, is_active};
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
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
    let cluster =
        run.cluster_id.ok_or_else(|| ApiError::conflict("cannot retry the run: its cluster was deleted"))?;
    if is_active(&run) {
        return Err(ApiError::conflict(format!("run {} has not ended", run.id)));
    }
    let parts = parts(&mut session, &run).await?;
    let graphs = if from.is_empty() {
        unfinished(&mut session, parts).await?
    } else {
        restart_from(&app, &mut session, &run, parts, from).await?
    };
    drop(session);
    let Some((_, run_options)) = graphs.first() else {
        return Err(ApiError::conflict(format!(
            "nothing to retry: run {} has no unfinished task instances",
            run.id
        )));
    };
    let run_options = run_options.clone();
    let graphs = graphs.into_iter().map(|(graph, _)| graph).collect();
    let run = launch(
        &app.orchestrator,
        &login.actor(),
        cluster,
        Launch { graphs, run_options, name: RunName::Deploy },
    )
    .await?;
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
            Err(ApiError::bad_request("from: specify at least one task, or omit it"))
        }
        from => Ok(from.unwrap_or_default()),
    }
}

/// Child run with its original request.
struct ChildRun {
    run: Run,
    work: RunExecution,
    request: GraphRequest,
    run_options: RunOptions,
}

impl ChildRun {
    /// Request for the task instances that did not succeed. A graph that was never planned is planned now.
    fn unfinished_request(self) -> (GraphRequest, RunOptions) {
        let rest_of = self.work.plan_id.map(|_| self.run.id);
        (
            GraphRequest { plan: self.work.plan_id, rest_of, from: Vec::new(), ..self.request },
            self.run_options,
        )
    }
}

async fn parts(session: &mut Session, run: &Run) -> ApiResult<Vec<ChildRun>> {
    let runs = if run.parent_id.is_some() { vec![run.clone()] } else { session.run_children(run.id).await? };
    let mut parts = Vec::with_capacity(runs.len());
    for run in runs {
        let Some(work) = session.run_work(run.id).await? else { continue };
        let Some((request, run_options)) = decode_request(&work.options) else { continue };
        parts.push(ChildRun { run, work, request, run_options });
    }
    Ok(parts)
}

/// Returns requests for the graphs that have unfinished task instances.
async fn unfinished(
    session: &mut Session,
    parts: Vec<ChildRun>,
) -> ApiResult<Vec<(GraphRequest, RunOptions)>> {
    let mut graphs = Vec::new();
    for part in parts {
        if has_unfinished(session, &part.run).await? {
            graphs.push(part.unfinished_request());
        }
    }
    Ok(graphs)
}

/// Whether task instances did not succeed. A successful run may have failed nodes: fault tolerance permits
/// some.
async fn has_unfinished(session: &mut Session, part: &Run) -> ApiResult<bool> {
    if part.status == RunStatus::Error {
        return Ok(true);
    }
    let statuses = Some(vec![HistoryStatus::Error, HistoryStatus::Skipped]);
    let filter = HistoryFilter { statuses, ..HistoryFilter::default() };
    let records = session.history_list(&[part.id], &filter).await?;
    Ok(records.iter().any(|record| record.custom.get("is_ignored") != Some(&Json::Bool(true))))
}

/// Returns a request for the first graph that contains one of the tasks in `from`, starting at them, and
/// requests for the unfinished task instances of later graphs.
async fn restart_from(
    app: &App,
    session: &mut Session,
    run: &Run,
    parts: Vec<ChildRun>,
    mut from: Vec<String>,
) -> ApiResult<Vec<(GraphRequest, RunOptions)>> {
    let mut graphs = Vec::new();
    for part in parts {
        let start = take_matching(app, session, &part, &mut from).await?;
        if !start.is_empty() {
            let request =
                GraphRequest { plan: part.work.plan_id, rest_of: None, from: start, ..part.request };
            graphs.push((request, part.run_options));
        } else if !graphs.is_empty() && has_unfinished(session, &part.run).await? {
            graphs.push(part.unfinished_request());
        }
    }
    if from.is_empty() {
        return Ok(graphs);
    }
    let unknown: Vec<String> = from.iter().map(|name| format!("`{name}`")).collect();
    Err(ApiError::bad_request(format!(
        "from: no plan of run {1} contains {0}; expected `task` or `task/node`",
        unknown.join(", "),
        run.id
    )))
}

/// Removes from `names` those that match task instances in the plan of a child run, and returns them.
async fn take_matching(
    app: &App,
    session: &mut Session,
    part: &ChildRun,
    names: &mut Vec<String>,
) -> ApiResult<Vec<String>> {
    let Some(plan_id) = part.work.plan_id.filter(|_| !names.is_empty()) else { return Ok(Vec::new()) };
    let Some(record) = session.plan_get(plan_id).await? else { return Ok(Vec::new()) };
    let stored = StoredPlan::read(&app.services.planning, session, record).await?;
    let matches_plan = |name: &String| !resolve_reference(&stored.explained.plan, name).is_empty();
    Ok(names.extract_if(.., |name| matches_plan(name)).collect())
}
