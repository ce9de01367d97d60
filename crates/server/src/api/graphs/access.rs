//! Access to graphs. Graphs of owners that the caller may not see are reported as not found.

use stoker_model::{Graph, GraphId, GraphType, Owner};
use stoker_services::graphs::{self, GraphKey};
use stoker_store::Session;

use crate::access::caller::Authenticated;
pub(super) use crate::api::clusters::access::require_cluster;
use crate::http::error::ApiResult;

/// Requires that the owner exists and that the caller may see it.
pub(super) async fn require_owner(
    session: &mut Session,
    login: &Authenticated,
    owner: Owner,
) -> ApiResult<()> {
    Ok(graphs::require_owner(session, login.tenant_scope(), owner).await?)
}

/// Returns a graph, or a 404 error if it does not exist or the caller may not see its owner.
pub(super) async fn require_graph(
    session: &mut Session,
    login: &Authenticated,
    id: GraphId,
) -> ApiResult<Graph> {
    Ok(GraphKey::Id(id).find(session, login.tenant_scope()).await?)
}

/// Returns the graph of an owner, or a 404 error if it does not exist or the caller may not see the owner.
pub(super) async fn require_graph_of(
    session: &mut Session,
    login: &Authenticated,
    owner: Owner,
    graph_type: &GraphType,
) -> ApiResult<Graph> {
    Ok(GraphKey::OfOwner(owner, graph_type.clone()).find(session, login.tenant_scope()).await?)
}
