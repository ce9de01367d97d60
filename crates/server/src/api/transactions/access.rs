//! Visibility of runs, and operations that require an idle cluster.

use stoker_model::{ClusterId, Run, RunId, RunStatus};
use stoker_orchestrator::runs::active_runs;
use stoker_store::{Session, WriteTransaction};

use crate::access::caller::Authenticated;
use crate::api::clusters::access::find_cluster;
use crate::http::error::{ApiError, ApiResult};

/// Loads a run whose cluster the caller may see. Runs without a cluster require access to all tenants.
pub(in crate::api) async fn require_run(
    session: &mut Session,
    login: &Authenticated,
    id: RunId,
    class: &str,
) -> ApiResult<Run> {
    let run = session.run_get(id).await?.ok_or_else(|| ApiError::not_found(class))?;
    let is_visible = match run.cluster_id {
        _ if login.tenant_limit().is_none() => true,
        Some(cluster_id) => find_cluster(session, login, cluster_id).await?.is_some(),
        None => false,
    };
    if is_visible { Ok(run) } else { Err(ApiError::not_found(class)) }
}

pub(in crate::api) fn is_active(run: &Run) -> bool {
    matches!(run.status, RunStatus::Pending | RunStatus::Running)
}

/// Rejects the operation `what` while a run of the cluster is active.
pub(in crate::api) async fn require_idle(
    session: &mut Session,
    cluster_id: ClusterId,
    what: &str,
) -> ApiResult<()> {
    match active_runs(session, cluster_id).await?.first() {
        None => Ok(()),
        Some(run) => Err(ApiError::bad_request(format!(
            "{what} is not possible while run {} ({}) is {} on cluster {cluster_id}",
            run.id, run.name, run.status
        ))),
    }
}

/// Fails all active runs of a cluster with `message` and revokes their leases. Returns the runs and child
/// runs, whose drivers on this server the caller must notify after the commit.
pub(in crate::api) async fn fail_active(
    writing: &mut WriteTransaction,
    cluster_id: ClusterId,
    message: &str,
) -> ApiResult<Vec<RunId>> {
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
