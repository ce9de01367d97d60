//! Creates runs and starts their drivers.

use serde_json::json;
use stoker_model::{
    Actor, AuditChange, AuditId, Cluster, ClusterId, ClusterStatus, NewRun, NodeId, Run, RunId, RunName,
    RunStatus, Topic,
};
use stoker_services::random;
use stoker_services::runs::records::{require_idle, runs_of};
use stoker_services::runs::{GraphRequest, RunKind, RunOptions};
use stoker_services::trace;
use stoker_services::webhooks::run_news;
use stoker_services::{ServiceError, ServiceResult};
use stoker_store::{RunFilter, Session, StoreError, WriteTransaction};

use super::conductor::start_driver;
use crate::orchestrator::Orchestrator;

/// Graphs to run on a cluster, one after another.
pub struct Launch {
    pub graphs: Vec<GraphRequest>,
    pub run_options: RunOptions,
    /// Run name: `deploy` or `provision`.
    pub name: RunName,
    /// Marked nodes that leave the cluster when the run starts.
    pub leaving: Vec<NodeId>,
}

/// Creates a run and starts its driver. Fails if the cluster has an active run.
pub(super) async fn launch(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: ClusterId,
    launch: Launch,
) -> ServiceResult<Run> {
    let writing = orchestrator.context.store.begin_write(actor, orchestrator.context.clock.now()).await?;
    launch_with(orchestrator, writing, cluster, &launch).await
}

/// Like [`launch`], but only if nothing was committed since audit entry `last`; otherwise `None`, and the
/// caller must read again.
pub(super) async fn launch_if_unchanged(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: ClusterId,
    launch: &Launch,
    last: AuditId,
) -> ServiceResult<Option<Run>> {
    let mut writing = orchestrator.context.store.begin_write(actor, orchestrator.context.clock.now()).await?;
    if writing.audit_last().await? != last {
        return Ok(None);
    }
    launch_with(orchestrator, writing, cluster, launch).await.map(Some)
}

async fn launch_with(
    orchestrator: &Orchestrator,
    mut writing: WriteTransaction,
    cluster: ClusterId,
    launch: &Launch,
) -> ServiceResult<Run> {
    let record = writing.cluster_get(cluster).await?.ok_or_else(|| ServiceError::not_found("Cluster"))?;
    let run = launch_in(&mut writing, record, launch).await?;
    let types: Vec<&str> = launch.graphs.iter().map(|graph| graph.graph_type.as_str()).collect();
    let detail = json!({
        "cluster_id": cluster.0, "graphs": types, "dry_run": launch.run_options.dry_run,
        "noop_run": launch.run_options.noop_run, "force": launch.run_options.force,
        "removed_nodes": launch.leaving.iter().map(|id| id.0).collect::<Vec<_>>(),
    });
    writing.commit(AuditChange { action: "run.start", target: format!("run {}", run.id), detail }).await?;
    start_driver(orchestrator, run.id);
    Ok(run)
}

/// Creates a run within a larger transaction. The caller must call `conduct` after the commit.
pub async fn launch_in(
    writing: &mut WriteTransaction,
    mut record: Cluster,
    launch: &Launch,
) -> ServiceResult<Run> {
    let cluster = record.id;
    require_idle(writing, cluster).await?;
    hide_finished(writing, cluster).await?;
    let run = create(writing, &record, launch).await?;
    if !run.dry_run {
        let news = run_news(Topic::RunStarted, &run, &record, writing.now());
        writing.notification_add(&news).await?;
    }
    if !launch.run_options.is_real() {
        return Ok(run);
    }
    remove_nodes(writing, cluster, &launch.leaving).await?;
    if record.status != ClusterStatus::Deployment {
        record.status = ClusterStatus::Deployment;
        writing.cluster_update(&record).await?;
    }
    Ok(run)
}

/// Removes nodes from the cluster. A node whose mark was cleared in the meantime stays.
async fn remove_nodes(
    writing: &mut WriteTransaction,
    cluster: ClusterId,
    leaving: &[NodeId],
) -> ServiceResult<()> {
    for id in leaving {
        if let Some(mut node) = writing.node_get(*id).await?
            && node.cluster_id == Some(cluster)
            && node.pending_deletion
        {
            node.leave_cluster();
            writing.node_update(&node).await?;
        }
    }
    Ok(())
}

async fn create(writing: &mut WriteTransaction, cluster: &Cluster, launch: &Launch) -> ServiceResult<Run> {
    let dry_run = !launch.run_options.is_real();
    let now = writing.now();
    let new = |parent_id, name, status, graph_type, started_at| -> ServiceResult<NewRun> {
        Ok(NewRun {
            uuid: random::uuid()?,
            parent_id,
            cluster_id: Some(cluster.id),
            name,
            status,
            progress: 0,
            message: None,
            result: json!({}),
            graph_type,
            dry_run,
            started_at,
            ended_at: None,
        })
    };
    let parent = new(None, launch.name, RunStatus::Running, None, Some(now))?;
    let parent = writing.run_create(&parent).await?;
    let kind = RunKind::Deployment { status_before: Some(cluster.status) };
    writing.run_work_create(parent.id, &kind.encode()).await?;
    let name = if launch.run_options.dry_run { RunName::DryRunDeployment } else { RunName::Deployment };
    for graph in &launch.graphs {
        let child = new(Some(parent.id), name, RunStatus::Pending, Some(graph.graph_type.clone()), None)?;
        let child = writing.run_create(&child).await?;
        let kind = RunKind::Graph(Box::new(graph.clone()), Box::new(launch.run_options.clone()));
        let mut options = kind.encode();
        trace::put(&mut options);
        writing.run_work_create(child.id, &options).await?;
    }
    Ok(parent)
}

/// Hides finished runs, which the new run supersedes.
async fn hide_finished(writing: &mut WriteTransaction, cluster: ClusterId) -> ServiceResult<()> {
    let statuses = Some(vec![RunStatus::Ready, RunStatus::Error]);
    let filter = RunFilter { statuses, hidden: Some(false), ..RunFilter::default() };
    for mut run in runs_of(writing, cluster, filter).await? {
        run.is_hidden = true;
        writing.run_update(&run).await?;
    }
    Ok(())
}

/// Sets the fields of a run that has ended.
pub(super) fn end(run: &mut Run, status: RunStatus, message: Option<String>, now: stoker_model::Micros) {
    run.status = status;
    run.message = message;
    run.progress = 100;
    run.started_at.get_or_insert(now);
    run.ended_at = Some(now);
}

/// Child runs that have not ended.
pub(super) async fn open_children(session: &mut Session, parent: RunId) -> Result<Vec<Run>, StoreError> {
    let parts = session.run_children(parent).await?;
    Ok(parts
        .into_iter()
        .filter(|run| matches!(run.status, RunStatus::Pending | RunStatus::Running))
        .collect())
}
