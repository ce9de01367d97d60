//! Deletion of runs.

use serde_json::json;
use stoker_model::{AuditChange, ClusterStatus, NodeStatus, Run, RunStatus};
use stoker_services::precondition::Precondition;
use stoker_services::{ServiceError, ServiceResult};
use stoker_store::{List, NodeFilter, WriteTransaction};

use super::conclude::stop_child_runs;
use crate::orchestrator::Orchestrator;

/// Deletes a run that was read in the same transaction, with its child runs and their history. An active run is deleted
/// only with `force`.
pub async fn delete_run(
    orchestrator: &Orchestrator,
    mut writing: WriteTransaction,
    run: &Run,
    precondition: &Precondition,
    force: bool,
) -> ServiceResult<()> {
    precondition.check(run.generation)?;
    let is_active = matches!(run.status, RunStatus::Pending | RunStatus::Running);
    if is_active && !force {
        return Err(ServiceError::invalid("You cannot delete running task manually"));
    }
    let parts = writing.run_children(run.id).await?;
    // Deleting a child run that has not started does not affect the others. Deleting an active one stops
    // those after it.
    let is_executing = is_active && (run.status == RunStatus::Running || run.parent_id.is_none());
    if is_executing {
        stop_deployment(&mut writing, run).await?;
    }
    writing.run_delete(run.id).await?;
    if let Some(parent) = run.parent_id.filter(|_| is_executing) {
        stop_child_runs(&mut writing, parent).await?;
    }
    let detail = json!({"name": run.name.as_str(), "status": run.status.as_str()});
    writing.commit(AuditChange { action: "run.delete", target: format!("run {}", run.id), detail }).await?;
    // Remove the runs from their driver on this server.
    for deleted in parts.iter().chain([run]) {
        orchestrator.agents.remove_run(deleted.id);
    }
    Ok(())
}

/// Sets the cluster and its deploying nodes to `stopped`: after the deletion no driver would end their
/// deployment.
async fn stop_deployment(writing: &mut WriteTransaction, run: &Run) -> ServiceResult<()> {
    let Some(id) = run.cluster_id else { return Ok(()) };
    let Some(mut cluster) = writing.cluster_get(id).await? else { return Ok(()) };
    if run.dry_run || cluster.status != ClusterStatus::Deployment {
        return Ok(());
    }
    cluster.status = ClusterStatus::Stopped;
    writing.cluster_update(&cluster).await?;
    let filter = NodeFilter { cluster: Some(Some(id)), ..NodeFilter::default() };
    let nodes = writing.node_list(&filter, &List::default()).await?.items;
    for mut node in nodes.into_iter().filter(|node| node.status == NodeStatus::Deploying) {
        node.status = NodeStatus::Stopped;
        writing.node_update(&node).await?;
    }
    Ok(())
}
