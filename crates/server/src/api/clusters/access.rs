//! Access to clusters. Clusters of tenants that the caller may not see are reported as not found.

use stoker_model::{Cluster, ClusterId};
use stoker_store::Session;

use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;

/// Returns a cluster, or `None` if it does not exist or the caller may not see it.
pub(in crate::api) async fn find_cluster(
    session: &mut Session,
    login: &Authenticated,
    id: ClusterId,
) -> ApiResult<Option<Cluster>> {
    let cluster = session.cluster_get(id).await?;
    Ok(cluster.filter(|cluster| login.may_see(cluster.tenant_id)))
}

/// Returns a cluster, or a 404 error if it does not exist or the caller may not see it.
pub(in crate::api) async fn require_cluster(
    session: &mut Session,
    login: &Authenticated,
    id: ClusterId,
) -> ApiResult<Cluster> {
    find_cluster(session, login, id).await?.ok_or_else(|| ApiError::not_found("Cluster"))
}

/// Returns the cluster of a path `/clusters/{id}/…`.
pub(in crate::api) async fn cluster_of(
    session: &mut Session,
    login: &Authenticated,
    path: &PathParams,
) -> ApiResult<Cluster> {
    let id = path.id("id", ClusterId, "Cluster")?;
    require_cluster(session, login, id).await
}
