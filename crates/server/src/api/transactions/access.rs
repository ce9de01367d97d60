//! Visibility of runs.

use stoker_model::{Run, RunId, RunStatus};
use stoker_store::Session;

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
