//! Going on after a run that has ended.

use axum::extract::State;
use stoker_manifest::reader::{list_of, nullable, string_of};
use stoker_model::{HistoryStatus, Json, Run, RunName, RunStatus, RunWork};
use stoker_planner::referred;
use stoker_store::{HistoryFilter, Session};
use utoipa::ToSchema;
use stoker_services::planning::StoredPlan;
use stoker_orchestrator::runs::{GraphRequest, Launch, RunOptions, decode_request, launch};

use super::run_of;
use crate::access::caller::Authenticated;
use crate::api::transactions::{RunView, is_active};
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::state::App;

const NAME_CHARS_MAX: usize = 255;

#[derive(ToSchema)]
#[schema(as = RetryRun)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct RetryBody {
    /// `task` or `task/nodes`: these are done again and everything that comes after them, whatever became of it.
    #[schema(example = json!(["netconfig/3"]))]
    from: Option<Vec<String>>,
}

/// Do again what did not succeed in a run that has ended, or everything from some tasks on, with the plan it had
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/retry", params(("id" = i64, Path)), request_body = Option<RetryBody>,
    responses((status = 202, body = RunView), (status = 409, body = crate::http::error::Envelope))
)]
pub(super) async fn run_retry(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Option<Document>,
) -> ApiResult<Answer<RunView>> {
    let from = document.as_ref().map(read_from).transpose()?.unwrap_or_default();
    let mut session = app.store.snapshot().await?;
    let run = run_of(&mut session, &login, &path).await?;
    let cluster = run.cluster_id.ok_or_else(|| ApiError::conflict("the cluster of the run is gone"))?;
    if is_active(&run) {
        return Err(ApiError::conflict(format!("run {} has not ended", run.id)));
    }
    let parts = parts(&mut session, &run).await?;
    let graphs = if from.is_empty() {
        left(&mut session, parts).await?
    } else {
        again(&app, &mut session, &run, parts, from).await?
    };
    drop(session);
    let Some((_, run_options)) = graphs.first() else {
        return Err(ApiError::conflict(format!("nothing of run {} is left to be done", run.id)));
    };
    let run_options = run_options.clone();
    let graphs = graphs.into_iter().map(|(graph, _)| graph).collect();
    let run = launch(&app.orchestrator, &login.actor(), cluster, Launch { graphs, run_options, name: RunName::Deploy }).await?;
    Ok(Answer::accepted(RunView::from(run)))
}

fn read_from(document: &Document) -> ApiResult<Vec<String>> {
    if document.json()?.is_null() {
        return Ok(Vec::new());
    }
    let names = list_of(string_of(1..=NAME_CHARS_MAX));
    let from = document.fields(|fields| Some(fields.optional("from", nullable(names)).flatten()))?;
    match from {
        Some(names) if names.is_empty() => {
            Err(ApiError::bad_request("from: name a task at least, or leave it out"))
        }
        from => Ok(from.unwrap_or_default()),
    }
}

/// A graph of a run, and what was asked of it.
struct Part {
    run: Run,
    work: RunWork,
    request: GraphRequest,
    run_options: RunOptions,
}

impl Part {
    /// What did not succeed of it. A graph that was never planned is planned now.
    fn rest(self) -> (GraphRequest, RunOptions) {
        let rest_of = self.work.plan_id.map(|_| self.run.id);
        (GraphRequest { plan: self.work.plan_id, rest_of, from: Vec::new(), ..self.request }, self.run_options)
    }
}

async fn parts(session: &mut Session, run: &Run) -> ApiResult<Vec<Part>> {
    let runs = if run.parent_id.is_some() { vec![run.clone()] } else { session.run_children(run.id).await? };
    let mut parts = Vec::with_capacity(runs.len());
    for run in runs {
        let Some(work) = session.run_work(run.id).await? else { continue };
        let Some((request, run_options)) = decode_request(&work.options) else { continue };
        parts.push(Part { run, work, request, run_options });
    }
    Ok(parts)
}

/// The graphs of which something is left to be done.
async fn left(session: &mut Session, parts: Vec<Part>) -> ApiResult<Vec<(GraphRequest, RunOptions)>> {
    let mut graphs = Vec::new();
    for part in parts {
        if is_left(session, &part.run).await? {
            graphs.push(part.rest());
        }
    }
    Ok(graphs)
}

/// A run can be over and well although nodes failed: as many as may.
async fn is_left(session: &mut Session, part: &Run) -> ApiResult<bool> {
    if part.status == RunStatus::Error {
        return Ok(true);
    }
    let statuses = Some(vec![HistoryStatus::Error, HistoryStatus::Skipped]);
    let filter = HistoryFilter { statuses, ..HistoryFilter::default() };
    let records = session.history_list(&[part.id], &filter).await?;
    Ok(records.iter().any(|record| record.custom.get("is_ignored") != Some(&Json::Bool(true))))
}

/// The first graph that has one of the named tasks, from them on, and what is left of those that come after it.
async fn again(
    app: &App,
    session: &mut Session,
    run: &Run,
    parts: Vec<Part>,
    mut from: Vec<String>,
) -> ApiResult<Vec<(GraphRequest, RunOptions)>> {
    let mut graphs = Vec::new();
    for part in parts {
        let found = named(app, session, &part, &mut from).await?;
        if !found.is_empty() {
            let request =
                GraphRequest { plan: part.work.plan_id, rest_of: None, from: found, ..part.request };
            graphs.push((request, part.run_options));
        } else if !graphs.is_empty() && is_left(session, &part.run).await? {
            graphs.push(part.rest());
        }
    }
    if from.is_empty() {
        return Ok(graphs);
    }
    let unknown: Vec<String> = from.iter().map(|name| format!("`{name}`")).collect();
    Err(ApiError::bad_request(format!(
        "from: {} is in no plan of run {}; write `task`, or `task/node`",
        unknown.join(", "),
        run.id
    )))
}

/// Takes those names out of a list that mean something in the plan of a part.
async fn named(
    app: &App,
    session: &mut Session,
    part: &Part,
    names: &mut Vec<String>,
) -> ApiResult<Vec<String>> {
    let Some(plan_id) = part.work.plan_id.filter(|_| !names.is_empty()) else { return Ok(Vec::new()) };
    let Some(record) = session.plan_get(plan_id).await? else { return Ok(Vec::new()) };
    let stored = StoredPlan::read(&app.services.planning, session, record).await?;
    let is_known = |name: &String| !referred(&stored.explained.plan, name).is_empty();
    Ok(names.extract_if(.., |name| is_known(name)).collect())
}
