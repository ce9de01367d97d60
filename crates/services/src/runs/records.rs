//! Records of runs: which are active, and which complete within a request.

use stoker_model::{ClusterId, Json, NewRun, Run, RunId, RunName, RunStatus};
use stoker_store::{List, RunFilter, Session, WriteTransaction};

use crate::error::{ServiceError, ServiceResult};
use crate::random;

pub async fn runs_of(
    session: &mut Session,
    cluster: ClusterId,
    filter: RunFilter,
) -> ServiceResult<Vec<Run>> {
    let filter = RunFilter { cluster_id: Some(Some(cluster)), ..filter };
    Ok(session.run_list(&filter, &List::default()).await?.items)
}

/// Returns the active runs of a cluster, including child runs.
pub async fn active_runs(session: &mut Session, cluster: ClusterId) -> ServiceResult<Vec<Run>> {
    let statuses = Some(vec![RunStatus::Pending, RunStatus::Running]);
    runs_of(session, cluster, RunFilter { statuses, ..RunFilter::default() }).await
}

/// Returns the active run of a cluster, without child runs.
pub async fn active(session: &mut Session, cluster: ClusterId) -> ServiceResult<Option<Run>> {
    let running = active_runs(session, cluster).await?;
    Ok(running.into_iter().find(|run| run.parent_id.is_none()))
}

/// Fails if the cluster has an active run.
pub async fn require_idle(session: &mut Session, cluster: ClusterId) -> ServiceResult<()> {
    let active = active_runs(session, cluster).await?;
    match active.first() {
        None => Ok(()),
        Some(run) => Err(ServiceError::conflict(format!(
            "Deployment already started: run {} ({}) is {} in cluster {cluster}; wait until it ends, or stop it",
            run.id, run.name, run.status
        ))),
    }
}

/// Rejects the operation `what` while a run of the cluster is active.
pub async fn require_idle_for(session: &mut Session, cluster_id: ClusterId, what: &str) -> ServiceResult<()> {
    match active_runs(session, cluster_id).await?.first() {
        None => Ok(()),
        Some(run) => Err(ServiceError::invalid(format!(
            "{what} is not possible while run {} ({}) is {} on cluster {cluster_id}",
            run.id, run.name, run.status
        ))),
    }
}

/// Fails all active runs of a cluster with `message` and revokes their leases. Returns the runs and child
/// runs, whose drivers on this server the caller must notify after the commit.
pub async fn fail_active(
    writing: &mut WriteTransaction,
    cluster_id: ClusterId,
    message: &str,
) -> ServiceResult<Vec<RunId>> {
    let active = active_runs(writing, cluster_id).await?;
    let ids = active.iter().map(|run| run.id).collect();
    for mut run in active {
        run.status = RunStatus::Error;
        run.message = Some(message.to_owned());
        run.ended_at = Some(writing.now());
        writing.run_update(&run).await?;
        // A driver on another server notices the revoked lease when it renews it.
        writing.run_lease_revoke(run.id).await?;
    }
    Ok(ids)
}

/// Creates the record of an operation that completes within the request, so that it appears in the list of runs.
pub async fn finished_run(
    writing: &mut WriteTransaction,
    name: RunName,
    cluster_id: Option<ClusterId>,
    message: String,
    result: Json,
) -> ServiceResult<Run> {
    let now = writing.now();
    let new = NewRun {
        cluster_id,
        progress: 100,
        message: Some(message),
        result,
        started_at: Some(now),
        ended_at: Some(now),
        ..NewRun::new(random::uuid()?, name, RunStatus::Ready)
    };
    Ok(writing.run_create(&new).await?)
}
