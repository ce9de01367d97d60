//! Retry of runs that have ended.

use stoker_model::{Actor, HistoryStatus, Json, Run, RunEnd, RunExecution, RunName, RunStatus};
use stoker_planner::resolve_reference;
use stoker_services::planning::StoredPlan;
use stoker_services::runs::{GraphRequest, RunKind, RunOptions};
use stoker_services::{ServiceError, ServiceResult};
use stoker_store::{HistoryFilter, Session};

use super::launch::{Launch, launch};
use crate::orchestrator::Orchestrator;

/// Starts a new run with the plan of an ended one. It executes the task instances that did not succeed or, with `from`,
/// the given ones and their successors.
pub async fn retry(
    orchestrator: &Orchestrator,
    actor: &Actor,
    run: &Run,
    from: Vec<String>,
) -> ServiceResult<Run> {
    let cluster = run
        .cluster_id
        .ok_or_else(|| ServiceError::conflict("cannot retry the run: its cluster was deleted"))?;
    if matches!(run.status, RunStatus::Pending | RunStatus::Running) {
        return Err(ServiceError::conflict(format!("run {} has not ended", run.id)));
    }
    let mut session = orchestrator.context.store.snapshot().await?;
    let child_runs = child_runs(&mut session, run).await?;
    let graphs = if from.is_empty() {
        unfinished(&mut session, child_runs).await?
    } else {
        restart_from(orchestrator, &mut session, run, child_runs, from).await?
    };
    drop(session);
    let Some((_, run_options)) = graphs.first() else {
        return Err(ServiceError::conflict(format!(
            "nothing to retry: run {} has no unfinished task instances",
            run.id
        )));
    };
    let run_options = run_options.clone();
    let graphs = graphs.into_iter().map(|(graph, _)| graph).collect();
    launch(
        orchestrator,
        actor,
        cluster,
        Launch { graphs, run_options, name: RunName::Deploy, leaving: Vec::new() },
    )
    .await
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

async fn child_runs(session: &mut Session, run: &Run) -> ServiceResult<Vec<ChildRun>> {
    let runs = if run.parent_id.is_some() { vec![run.clone()] } else { session.run_children(run.id).await? };
    let mut child_runs = Vec::with_capacity(runs.len());
    for run in runs {
        let Some(work) = session.run_work(run.id).await? else { continue };
        let Some(RunKind::Graph(request, run_options)) = RunKind::decode(&work.options, None) else {
            continue;
        };
        child_runs.push(ChildRun { run, work, request: *request, run_options: *run_options });
    }
    Ok(child_runs)
}

/// Returns requests for the graphs that have unfinished task instances.
async fn unfinished(
    session: &mut Session,
    child_runs: Vec<ChildRun>,
) -> ServiceResult<Vec<(GraphRequest, RunOptions)>> {
    let mut graphs = Vec::new();
    for child in child_runs {
        if has_unfinished(session, &child.run).await? {
            graphs.push(child.unfinished_request());
        }
    }
    Ok(graphs)
}

/// Whether task instances did not succeed. A successful run may have failed nodes: fault tolerance permits
/// some.
async fn has_unfinished(session: &mut Session, child: &Run) -> ServiceResult<bool> {
    if matches!(child.end(), Some(RunEnd::Failed | RunEnd::Stopped)) {
        return Ok(true);
    }
    let statuses = Some(vec![HistoryStatus::Error, HistoryStatus::Skipped]);
    let filter = HistoryFilter { statuses, ..HistoryFilter::default() };
    let records = session.history_list(&[child.id], &filter).await?;
    Ok(records.iter().any(|record| record.custom.get("is_ignored") != Some(&Json::Bool(true))))
}

/// Returns a request for the first graph that contains one of the tasks in `from`, starting at them, and
/// requests for the unfinished task instances of later graphs.
async fn restart_from(
    orchestrator: &Orchestrator,
    session: &mut Session,
    run: &Run,
    child_runs: Vec<ChildRun>,
    mut from: Vec<String>,
) -> ServiceResult<Vec<(GraphRequest, RunOptions)>> {
    let mut graphs = Vec::new();
    for child in child_runs {
        let start = take_matching(orchestrator, session, &child, &mut from).await?;
        if !start.is_empty() {
            let request =
                GraphRequest { plan: child.work.plan_id, rest_of: None, from: start, ..child.request };
            graphs.push((request, child.run_options));
        } else if !graphs.is_empty() && has_unfinished(session, &child.run).await? {
            graphs.push(child.unfinished_request());
        }
    }
    if from.is_empty() {
        return Ok(graphs);
    }
    let unknown: Vec<String> = from.iter().map(|name| format!("`{name}`")).collect();
    Err(ServiceError::invalid(format!(
        "`from`: no plan of run {1} contains {0}; use `TASK` or `TASK/NODE`",
        unknown.join(", "),
        run.id
    )))
}

/// Removes from `names` those that match task instances in the plan of a child run, and returns them.
async fn take_matching(
    orchestrator: &Orchestrator,
    session: &mut Session,
    child: &ChildRun,
    names: &mut Vec<String>,
) -> ServiceResult<Vec<String>> {
    let Some(plan_id) = child.work.plan_id.filter(|_| !names.is_empty()) else { return Ok(Vec::new()) };
    let Some(record) = session.plan_get(plan_id).await? else { return Ok(Vec::new()) };
    let stored = StoredPlan::read(&orchestrator.context.services.planning, session, record).await?;
    let matches_plan = |name: &String| !resolve_reference(&stored.explained.plan, name).is_empty();
    Ok(names.extract_if(.., |name| matches_plan(name)).collect())
}
