//! Instances: nodes that belong to a cluster, and the modules that they have.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use serde_json::json;
use stoker_model::{AuditChange, Cluster, ClusterId, Micros, Module, Node, NodeId, Release, RunId};
use stoker_modules::reapply::{self as batching, AppliedInstance, ReapplyLimits};
use stoker_modules::{ReapplyRequest, Requester, RuleViolation, is_compatible};
use stoker_settings::Server;
use stoker_store::{List, NodeFilter, Session, StoreError, WriteTransaction};

use super::error::{ModuleError, ModuleResult};
use super::reapply;
use super::records::describe;
use crate::runs::records::active;

/// Node with its cluster and release.
pub struct NodeInstance {
    pub node: Node,
    pub cluster: Cluster,
    pub release: Release,
    /// Whether the agent of the node was revoked, so that no module can be applied.
    pub is_revoked: bool,
}

impl NodeInstance {
    /// Finds an instance that the caller may see. Admins see all instances.
    pub async fn find(session: &mut Session, who: Requester, id: &str) -> ModuleResult<Self> {
        let node = match NodeId::parse(id) {
            Some(id) => session.node_get(id).await?,
            None => None,
        };
        let instance = match node {
            Some(node) => ClusterCache::default().instance(session, node).await?,
            None => None,
        };
        Ok(instance
            .filter(|instance| instance.is_for(who))
            .ok_or_else(|| RuleViolation::instance_not_found(id))?)
    }

    fn is_for(&self, who: Requester) -> bool {
        who.is_admin || self.cluster.tenant_id == who.tenant_id
    }
}

/// Returns the instances of the caller's tenant.
pub async fn instance_list(session: &mut Session, who: Requester) -> ModuleResult<Vec<NodeInstance>> {
    let filter = NodeFilter { tenant_id: Some(who.tenant_id), ..NodeFilter::default() };
    let (mut cache, mut instances) = (ClusterCache::default(), Vec::new());
    for node in session.node_list(&filter, &List::default()).await?.items {
        instances.extend(cache.instance(session, node).await?);
    }
    Ok(instances)
}

/// Removes the node of an instance from its cluster, unless a run of the cluster is active.
pub async fn instance_delete(mut writing: WriteTransaction, instance: NodeInstance) -> ModuleResult<()> {
    let NodeInstance { mut node, cluster, .. } = instance;
    if let Some(run) = active(&mut writing, cluster.id).await? {
        return Err(ModuleError::unprocessable(format!(
            "cluster {} has an active run {}; wait until it ends or stop it",
            cluster.id, run.id
        )));
    }
    node.leave_cluster();
    writing.node_update(&node).await?;
    let detail = json!({"cluster_id": cluster.id.0});
    let target = format!("node {}", node.id);
    Ok(writing.commit(AuditChange { action: "instance.delete", target, detail }).await?)
}

/// An instance that has a module.
pub struct ModuleInstance {
    pub instance: NodeInstance,
    /// Digest of the contents that were applied.
    pub md5: String,
    pub updated_at: Micros,
}

/// Returns the instances with this module that the caller may see.
pub async fn instances_of(
    session: &mut Session,
    who: Requester,
    module: &Module,
) -> ModuleResult<Vec<ModuleInstance>> {
    let carriers = session.module_nodes(&module.uuid).await?;
    let ids = carriers.iter().map(|carrier| carrier.node_id).collect();
    let filter = NodeFilter { ids: Some(ids), ..NodeFilter::default() };
    let nodes = session.node_list(&filter, &List::default()).await?.items;
    let mut nodes: HashMap<NodeId, Node> = nodes.into_iter().map(|node| (node.id, node)).collect();
    let (mut cache, mut instances) = (ClusterCache::default(), Vec::new());
    for carrier in carriers {
        let Some(node) = nodes.remove(&carrier.node_id) else { continue };
        let instance = cache.instance(session, node).await?.filter(|instance| instance.is_for(who));
        if let Some(instance) = instance {
            let (md5, updated_at) = (carrier.body.md5, carrier.updated_at);
            instances.push(ModuleInstance { instance, md5, updated_at });
        }
    }
    Ok(instances)
}

/// Applies a module again, in batches, to the instances that have it. Returns the run, which the caller starts.
pub async fn module_reapply(
    settings: &Server,
    mut writing: WriteTransaction,
    who: Requester,
    module: &Module,
    request: &ReapplyRequest,
) -> ModuleResult<Option<RunId>> {
    let carriers: Vec<AppliedInstance<NodeId>> = instances_of(&mut writing, who, module)
        .await?
        .into_iter()
        .map(|ModuleInstance { instance, md5, .. }| {
            let release = &instance.release.body;
            AppliedInstance {
                node: instance.node.id,
                md5,
                fits: is_compatible(&module.body, &release.name, &release.version),
            }
        })
        .collect();
    let settings = &settings.modules;
    let limits = ReapplyLimits {
        batch_size: settings.batch_size.into(),
        batch_delay_s: settings.batch_delay_seconds.into(),
    };
    let batches = batching::plan_batches(carriers, &module.body.md5, request, limits, who.is_admin);
    let mut change = describe("module.reapply", module);
    change.detail["n_instances"] = batches.batches.iter().map(Vec::len).sum::<usize>().into();
    change.detail["n_current"] = batches.n_current.into();
    change.detail["n_unfit"] = batches.n_unfit.into();
    let run = reapply::enqueue(&mut writing, module, &batches).await?;
    writing.commit(change).await?;
    Ok(run)
}

/// Cache of clusters and releases, because many nodes share a few of them, and of revocations.
#[derive(Default)]
struct ClusterCache {
    revoked: Option<HashSet<NodeId>>,
    clusters: HashMap<ClusterId, Option<(Cluster, Release)>>,
}

impl ClusterCache {
    /// Resolves a node to an instance; `None` if it belongs to no cluster.
    async fn instance(
        &mut self,
        session: &mut Session,
        node: Node,
    ) -> Result<Option<NodeInstance>, StoreError> {
        let Some(id) = node.cluster_id else { return Ok(None) };
        let owner = match self.clusters.entry(id) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => {
                let cluster = session.cluster_get(id).await?;
                let release = match &cluster {
                    Some(cluster) => session.release_get(cluster.release_id).await?,
                    None => None,
                };
                entry.insert(cluster.zip(release)).clone()
            }
        };
        let Some((cluster, release)) = owner else { return Ok(None) };
        if self.revoked.is_none() {
            self.revoked = Some(session.nodes_revoked().await?);
        }
        let is_revoked = self.revoked.as_ref().is_some_and(|revoked| revoked.contains(&node.id));
        Ok(Some(NodeInstance { node, cluster, release, is_revoked }))
    }
}
