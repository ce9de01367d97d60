//! Identification of stored graphs. Graphs of owners that the caller may not see are reported as not found.

use stoker_model::{Graph, GraphId, GraphType, Owner, OwnerKind};
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};
use crate::principal::TenantScope;

/// Identifies a stored graph.
#[derive(Clone, Debug)]
pub enum GraphKey {
    Id(GraphId),
    OfOwner(Owner, GraphType),
}

impl GraphKey {
    /// Returns the graph, or an error if it does not exist or its owner is outside of the scope.
    pub async fn find(&self, session: &mut Session, tenants: TenantScope) -> ServiceResult<Graph> {
        match self {
            Self::Id(id) => {
                let not_found = || ServiceError::not_found("DeploymentGraph");
                let graph = session.graph_get(*id).await?.ok_or_else(not_found)?;
                match require_owner(session, tenants, graph.owner).await {
                    Err(ServiceError::NotFound(_)) => Err(not_found()),
                    checked => checked.map(|()| graph),
                }
            }
            Self::OfOwner(owner, graph_type) => {
                require_owner(session, tenants, *owner).await?;
                let graph = session.graph_find(*owner, graph_type).await?;
                let message = || format!("Graph with type: {graph_type} is not defined");
                graph.ok_or_else(|| ServiceError::NotFound(message()))
            }
        }
    }
}

/// Requires that the owner exists and is in the scope.
pub async fn require_owner(session: &mut Session, tenants: TenantScope, owner: Owner) -> ServiceResult<()> {
    let exists = match owner {
        Owner::Release(id) => session.release_get(id).await?.is_some(),
        Owner::Plugin(id) => session.plugin_get(id).await?.is_some(),
        Owner::Cluster(id) => {
            let cluster = session.cluster_get(id).await?;
            cluster.is_some_and(|cluster| tenants.contains(cluster.tenant_id))
        }
    };
    if exists { Ok(()) } else { Err(ServiceError::not_found(owner_class(owner.kind()))) }
}

/// Returns the class name of an owner in "not found" messages.
pub const fn owner_class(kind: OwnerKind) -> &'static str {
    match kind {
        OwnerKind::Release => "Release",
        OwnerKind::Cluster => "Cluster",
        OwnerKind::Plugin => "Plugin",
    }
}
