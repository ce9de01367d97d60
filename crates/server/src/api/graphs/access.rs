//! Access to graphs. Graphs of owners that the caller may not see are reported as not found.

use stoker_model::{Graph, GraphId, Owner};
use stoker_store::Session;

use crate::access::caller::Authenticated;
pub(super) use crate::api::clusters::access::require_cluster;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::owner_class;

/// Requires that the owner exists and that the caller may see it.
pub(super) async fn require_owner(
    session: &mut Session,
    login: &Authenticated,
    owner: Owner,
) -> ApiResult<()> {
    let exists = match owner {
        Owner::Release(id) => session.release_get(id).await?.is_some(),
        Owner::Plugin(id) => session.plugin_get(id).await?.is_some(),
        Owner::Cluster(id) => return require_cluster(session, login, id).await.map(|_| ()),
    };
    if exists { Ok(()) } else { Err(ApiError::not_found(owner_class(owner.kind()))) }
}

/// Returns a graph, or a 404 error if it does not exist or the caller may not see its owner.
pub(super) async fn require_graph(
    session: &mut Session,
    login: &Authenticated,
    id: GraphId,
) -> ApiResult<Graph> {
    let not_found = || ApiError::not_found("DeploymentGraph");
    let graph = session.graph_get(id).await?.ok_or_else(not_found)?;
    require_owner(session, login, graph.owner).await.map_err(|_| not_found())?;
    Ok(graph)
}
