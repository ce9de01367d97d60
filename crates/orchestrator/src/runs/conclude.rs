//! Records the start and the end of runs and child runs.

use serde_json::json;
use stoker_engine::blueprint::Blueprint;
use stoker_model::{Actor, AuditChange, ClusterId, PlanId, Run, RunEnd, RunId, RunName, RunStatus, Topic};
use stoker_services::modules::automatic;
use stoker_services::runs::RunOptions;
use stoker_services::webhooks::run_news;
use stoker_state::{NodeSummary, cluster_status_after};
use stoker_store::{List, NodeFilter, StoreError, WriteTransaction};

use super::conductor::{Interruption, start_drivers};
use super::launch::{end, open_children};
use super::outcome::{mark_nodes, note_on_parent};
use crate::orchestrator::Orchestrator;

/// A run and the lease generation of this server, for fencing: writes fail after the lease was lost.
#[derive(Clone, Copy)]
pub(super) struct FencedRun {
    pub(super) run: RunId,
    pub(super) lease: i64,
}

pub(super) async fn change(
    orchestrator: &Orchestrator,
    fenced: FencedRun,
) -> Result<WriteTransaction, Interruption> {
    let mut writing =
        orchestrator.context.store.begin_write(&Actor::server(), orchestrator.context.clock.now()).await?;
    writing.run_lease_require(fenced.run, fenced.lease).await?;
    Ok(writing)
}

/// Marks a child run as running.
pub(super) async fn begin_child(
    orchestrator: &Orchestrator,
    fenced: FencedRun,
    run_options: &RunOptions,
    blueprint: &Blueprint,
) -> Result<(), Interruption> {
    let mut writing = change(orchestrator, fenced).await?;
    let id = fenced.run;
    let mut run = writing.run_get(id).await?.ok_or(Interruption::Lost)?;
    match run.status {
        RunStatus::Running => return Ok(()),
        RunStatus::Pending => run.status = RunStatus::Running,
        // The run was stopped during planning.
        RunStatus::Ready | RunStatus::Error => return Err(Interruption::Ended),
    }
    run.started_at = Some(writing.now());
    writing.run_update(&run).await?;
    if run_options.is_real() {
        mark_nodes(&mut writing, blueprint).await?;
    }
    writing
        .commit(AuditChange { action: "run.begin", target: format!("run {id}"), detail: json!({}) })
        .await?;
    Ok(())
}

/// Outcome of a child run.
pub(super) struct Conclusion {
    pub(super) status: RunStatus,
    pub(super) message: Option<String>,
    pub(super) plan: Option<PlanId>,
    /// Whether nodes were left out because they were offline.
    pub(super) is_partial: bool,
    /// Whether the child run ended because it was stopped.
    pub(super) is_stopped: bool,
    /// A stop was requested; the child run may have completed nevertheless.
    pub(super) stop_requested: bool,
}

impl Conclusion {
    /// The child run could not be executed.
    pub(super) fn error(message: String) -> Self {
        Self {
            status: RunStatus::Error,
            message: Some(message),
            plan: None,
            is_partial: false,
            is_stopped: false,
            stop_requested: false,
        }
    }

    /// The child run was a dry run.
    pub(super) fn planned(plan: PlanId, message: Option<String>) -> Self {
        Self {
            status: RunStatus::Ready,
            message,
            plan: Some(plan),
            is_partial: false,
            is_stopped: false,
            stop_requested: false,
        }
    }
}

/// Records the end of a child run and returns it. A child run that has already ended is unchanged.
pub(super) async fn conclude_child(
    orchestrator: &Orchestrator,
    fenced: FencedRun,
    id: RunId,
    ended: Conclusion,
) -> Result<Run, Interruption> {
    let Conclusion { status, message, plan, is_partial, is_stopped, stop_requested } = ended;
    let mut writing = change(orchestrator, fenced).await?;
    let mut run = writing.run_get(id).await?.ok_or(Interruption::Lost)?;
    if !matches!(run.status, RunStatus::Pending | RunStatus::Running) {
        return Ok(run);
    }
    let now = writing.now();
    end(&mut run, status, message, now);
    if let Some(plan) = plan {
        run.result = json!({"plan_id": plan.0});
    }
    if is_partial && status == RunStatus::Ready {
        run.mark_partial();
    }
    if is_stopped {
        run.mark_stopped();
    }
    writing.run_update(&run).await?;
    // In the same transaction as the end of this child run, so that a crash cannot lose the stop request.
    if let (RunStatus::Ready, true, Some(parent)) = (status, stop_requested, run.parent_id) {
        stop_child_runs(&mut writing, parent).await?;
    }
    note_on_parent(&mut writing, &run).await?;
    let detail = json!({"status": run.status.as_str(), "message": run.message});
    writing.commit(AuditChange { action: "run.end", target: format!("run {id}"), detail }).await?;
    orchestrator.notify_watchers(id);
    Ok(run)
}

/// Ends the unfinished child runs of a run as stopped.
pub(super) async fn stop_child_runs(writing: &mut WriteTransaction, parent: RunId) -> Result<(), StoreError> {
    let now = writing.now();
    for mut part in open_children(writing, parent).await? {
        end(&mut part, RunStatus::Error, Some("the run was stopped".to_owned()), now);
        part.mark_stopped();
        writing.run_update(&part).await?;
    }
    Ok(())
}

/// Records the end of the parent run, and aborts unfinished child runs.
pub(super) async fn conclude(
    orchestrator: &Orchestrator,
    parent: RunId,
    lease: i64,
) -> Result<(), Interruption> {
    let mut writing = change(orchestrator, FencedRun { run: parent, lease }).await?;
    let now = writing.now();
    for mut part in open_children(&mut writing, parent).await? {
        end(&mut part, RunStatus::Error, Some("Aborted".to_owned()), now);
        writing.run_update(&part).await?;
    }
    let children = writing.run_children(parent).await?;
    let ended = |how: RunEnd| children.iter().find(move |run| run.end() == Some(how));
    let failed = children.iter().find(|run| matches!(run.end(), Some(RunEnd::Failed | RunEnd::Stopped)));
    let mut run = writing.run_get(parent).await?.ok_or(Interruption::Lost)?;
    if let Some(child) = failed {
        end(&mut run, RunStatus::Error, child.message.clone(), now);
    } else if let Some(child) = ended(RunEnd::Partial) {
        end(&mut run, RunStatus::Error, child.message.clone(), now);
        run.mark_partial();
    } else {
        let message = children.iter().rev().find_map(|child| child.message.clone());
        end(&mut run, RunStatus::Ready, message, now);
    }
    if children.iter().any(Run::was_stopped) {
        run.mark_stopped();
    }
    writing.run_update(&run).await?;
    let outcome = run.end().unwrap_or(RunEnd::Failed);
    let topic = match outcome {
        RunEnd::Succeeded => Topic::RunSucceeded,
        RunEnd::Partial => Topic::RunPartial,
        RunEnd::Stopped => Topic::RunStopped,
        RunEnd::Failed => Topic::RunFailed,
    };
    let mut automatic = Vec::new();
    if !run.dry_run
        && let Some(cluster_id) = run.cluster_id
    {
        settle_cluster(&mut writing, cluster_id, outcome, run.was_stopped()).await?;
        if let Some(cluster) = writing.cluster_get(cluster_id).await? {
            writing.notification_add(&run_news(topic, &run, &cluster, now)).await?;
        }
        if let Some(cluster) = writing.cluster_get(cluster_id).await?.filter(|_| run.name == RunName::Deploy)
        {
            automatic = automatic::enqueue_after(&mut writing, &cluster).await?;
        }
    }
    let detail = json!({"status": run.status.as_str(), "message": run.message});
    writing.commit(AuditChange { action: "run.end", target: format!("run {parent}"), detail }).await?;
    orchestrator.metrics.runs.run_ended(topic);
    orchestrator.context.services.webhooks.notify();
    start_drivers(orchestrator, automatic);
    orchestrator.notify_watchers(parent);
    Ok(())
}

/// Sets the status of a cluster after a run: stopped, partially deployed if nodes were left out, or derived from its
/// nodes.
async fn settle_cluster(
    writing: &mut WriteTransaction,
    id: ClusterId,
    outcome: RunEnd,
    is_stopped: bool,
) -> Result<(), StoreError> {
    let Some(mut cluster) = writing.cluster_get(id).await? else { return Ok(()) };
    let filter = NodeFilter { cluster: Some(Some(id)), ..NodeFilter::default() };
    let nodes = writing.node_list(&filter, &List::default()).await?.items;
    let nodes = nodes.iter().map(NodeSummary::from);
    cluster.status = cluster_status_after(nodes, is_stopped, outcome == RunEnd::Partial);
    writing.cluster_update(&cluster).await?;
    Ok(())
}
