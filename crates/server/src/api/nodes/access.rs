//! Visibility of nodes. A caller that is limited to a tenant sees the nodes of the clusters of that tenant,
//! and no unassigned nodes.

use stoker_model::{AuditChange, Json, Node, NodeId};
use stoker_store::Session;

use crate::access::caller::Authenticated;
use crate::api::clusters::access::find_cluster;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;

/// Loads the node of a path `/nodes/{id}/…`. Returns a 404 error if the caller may not see it.
pub(super) async fn node_of(
    session: &mut Session,
    login: &Authenticated,
    path: &PathParams,
) -> ApiResult<Node> {
    let id = path.id("id", NodeId, "Node")?;
    let node = session.node_get(id).await?.ok_or_else(not_found)?;
    let is_visible = match node.cluster_id {
        _ if login.tenant_limit().is_none() => true,
        Some(cluster_id) => find_cluster(session, login, cluster_id).await?.is_some(),
        None => false,
    };
    if is_visible { Ok(node) } else { Err(not_found()) }
}

fn not_found() -> ApiError {
    ApiError::not_found("Node")
}

pub(super) fn describe(action: &'static str, node: &Node, detail: Json) -> AuditChange {
    AuditChange { action, target: format!("node {}", node.id), detail }
}
