//! Which clusters a caller may see.

use stoker_model::{Cluster, ClusterId};
use stoker_store::Session;

use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;

/// A cluster, unless it does not exist for the caller.
pub(in crate::api) async fn find_cluster(
    session: &mut Session,
    login: &Authenticated,
    id: ClusterId,
) -> ApiResult<Option<Cluster>> {
    let cluster = session.cluster_get(id).await?;
    Ok(cluster.filter(|cluster| login.may_see(cluster.tenant_id)))
}

/// A cluster that the caller may see.
pub(in crate::api) async fn require_cluster(
    session: &mut Session,
    login: &Authenticated,
    id: ClusterId,
) -> ApiResult<Cluster> {
    find_cluster(session, login, id).await?.ok_or_else(|| ApiError::not_found("Cluster"))
}

/// The cluster of a path `/clusters/{id}/…`.
pub(in crate::api) async fn cluster_of(
    session: &mut Session,
    login: &Authenticated,
    path: &PathParams,
) -> ApiResult<Cluster> {
    let id = path.id("id", ClusterId, "Cluster")?;
    require_cluster(session, login, id).await
}
