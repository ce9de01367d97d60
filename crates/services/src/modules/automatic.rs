//! Auto-applied modules: enqueued when a node joins a cluster and after a deployment.

use stoker_model::{Cluster, Module, ModuleAction, ModuleStatus, Node, NodeId, NodeStatus, Release, RunId};
use stoker_modules::is_compatible;
use stoker_store::{List, ModuleFilter, NodeFilter, Session, StoreError, WriteTransaction};

use crate::error::ServiceResult;

use super::lists::{ModuleListRequest, enqueue, is_too_large, items};

/// Returns the auto-applied modules for nodes of this cluster.
pub async fn modules_for(
    session: &mut Session,
    cluster: &Cluster,
    release: &Release,
) -> Result<Vec<Module>, StoreError> {
    let filter = ModuleFilter { automatic_for: Some(cluster.tenant_id), ..ModuleFilter::default() };
    let mut modules = session.module_list(&filter).await?;
    modules.retain(|module| is_compatible(&module.body, &release.body.name, &release.body.version));
    Ok(modules)
}

/// Filters modules that a node lacks in their current version and that no pending run applies.
async fn missing(
    session: &mut Session,
    node: NodeId,
    mut modules: Vec<Module>,
) -> Result<Vec<Module>, StoreError> {
    for run in session.module_runs_of_node(node).await? {
        let Some(list) = session.module_run(run).await? else { continue };
        if list.action == ModuleAction::Apply {
            modules.retain(|module| {
                let is_pending = list
                    .items
                    .iter()
                    .any(|item| item.uuid == module.uuid && item.body.md5 == module.body.md5);
                !is_pending
            });
        }
    }
    let applied = session.node_modules(node).await?;
    modules.retain(|module| {
        !applied.iter().any(|found| {
            found.uuid == module.uuid
                && found.removed_at.is_none()
                && found.status == ModuleStatus::Ok
                && found.body.md5 == module.body.md5
        })
    });
    Ok(modules)
}

/// Enqueues missing modules for newly joined or deployed nodes. The caller starts the returned runs after commit.
pub async fn enqueue_for(
    writing: &mut WriteTransaction,
    cluster: &Cluster,
    nodes: &[Node],
) -> ServiceResult<Vec<RunId>> {
    let Some(release) = writing.release_get(cluster.release_id).await? else { return Ok(Vec::new()) };
    let expected = modules_for(writing, cluster, &release).await?;
    let mut runs = Vec::new();
    if expected.is_empty() {
        return Ok(runs);
    }
    for node in nodes.iter().filter(|node| node.online) {
        let missing = missing(writing, node.id, expected.clone()).await?;
        let items = items(writing, missing).await?;
        if is_too_large(&items) {
            tracing::warn!(
                node.id = node.id.0,
                "skipping auto-applied modules: list exceeds the message size limit"
            );
        } else if !items.is_empty() {
            runs.push(enqueue(writing, ModuleListRequest::apply(node.id, items)).await?);
        }
    }
    Ok(runs)
}

/// Enqueues missing modules for all nodes of a cluster that are ready after a deployment.
pub async fn enqueue_after(writing: &mut WriteTransaction, cluster: &Cluster) -> ServiceResult<Vec<RunId>> {
    let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
    let mut nodes = writing.node_list(&filter, &List::default()).await?.items;
    nodes.retain(|node| node.status == NodeStatus::Ready && node.error_type.is_none());
    enqueue_for(writing, cluster, &nodes).await
}
