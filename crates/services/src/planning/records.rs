//! Records from which the state is computed.

use std::collections::{BTreeMap, HashMap};

use stoker_model::{
    Cluster, ClusterId, ClusterStatus, FactsKind, Json, Micros, Node, NodeId, Release, RunId, RunStatus,
};
use stoker_state::{
    DesiredState, EnabledPlugin, StateInput, SuppliedDocuments, desired_state, update_condition,
};
use stoker_store::{List, NodeFilter, RunFilter, Session};

use crate::error::{ServiceError, ServiceResult};

use crate::graphs::Graphs;
use crate::plugins::node_metadata::{declared_attributes, effective_attributes};
use crate::plugins::scripts::scripts_of;
use crate::repositories::sources_of;

/// A cluster and its related records, read from one snapshot.
pub struct Records {
    pub(super) cluster: Cluster,
    pub(super) release: Release,
    pub(super) plugins: Vec<EnabledPlugin>,
    /// All nodes of the cluster, with the attributes that plugins declare.
    pub(super) nodes: Vec<Node>,
    pub(super) primaries: BTreeMap<String, NodeId>,
    /// Directory of plugin scripts on nodes.
    scripts_root: String,
    /// Fingerprints of the nodes' package repository credentials; empty without packages.
    package_access: BTreeMap<NodeId, String>,
}

impl Records {
    pub async fn read(graphs: &Graphs, session: &mut Session, cluster: &Cluster) -> ServiceResult<Self> {
        let release = session.release_get(cluster.release_id).await?;
        let release = release.ok_or_else(|| ServiceError::not_found("Release"))?;
        let mut plugins = Vec::new();
        for link in session.cluster_plugins(cluster.id).await?.into_iter().filter(|link| link.enabled) {
            if let Some(plugin) = session.plugin_get(link.plugin_id).await? {
                plugins.push(EnabledPlugin {
                    plugin,
                    attributes: link.attributes,
                    scripts_digest: None,
                    repository_digest: None,
                });
            }
        }
        let folders = session.plugin_folders().await?;
        let enabled = plugins.iter().map(|enabled| &enabled.plugin);
        let mut scripts = scripts_of(&graphs.packages, &folders, cluster, &release, enabled).await?;
        let enabled = plugins.iter().map(|enabled| &enabled.plugin);
        let mut sources = sources_of(&graphs.repositories, &folders, cluster, &release, enabled).await?;
        let has_packages = !sources.is_empty();
        for enabled in &mut plugins {
            let id = enabled.plugin.id;
            enabled.scripts_digest = scripts.remove(&id).and_then(|scripts| scripts.digest);
            enabled.repository_digest = sources.remove(&id).map(|source| source.digest);
        }
        let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
        let mut nodes = session.node_list(&filter, &List::default()).await?.items;
        let declared =
            declared_attributes(&plugins.iter().map(|enabled| &enabled.plugin.body).collect::<Vec<_>>());
        if !declared.is_empty() {
            for node in &mut nodes {
                node.attributes = effective_attributes(&declared, node);
            }
        }
        let package_access =
            if has_packages { package_access(graphs, session, &nodes).await? } else { BTreeMap::new() };
        Ok(Self {
            release,
            plugins,
            nodes,
            package_access,
            primaries: session.primaries_get(cluster.id).await?,
            cluster: before_run(session, cluster).await?,
            scripts_root: graphs.settings.plugin_scripts_root.clone(),
        })
    }

    pub fn new_state(&self) -> DesiredState {
        desired_state(&self.state_input())
    }

    /// Returns the condition with which the roles of the cluster demand updates of deployed nodes.
    pub(super) fn update_condition(&self) -> Option<String> {
        update_condition(&self.state_input())
    }

    fn state_input(&self) -> StateInput<'_> {
        StateInput {
            cluster: &self.cluster,
            release: &self.release,
            plugins: &self.plugins,
            scripts_root: &self.scripts_root,
            nodes: &self.nodes,
            primaries: &self.primaries,
            package_access: &self.package_access,
        }
    }
}

/// Key in the options of a run: the status of the cluster before it.
pub const STATUS_BEFORE: &str = "cluster_status";

async fn active_run(session: &mut Session, cluster: ClusterId) -> ServiceResult<Option<RunId>> {
    let statuses = Some(vec![RunStatus::Pending, RunStatus::Running]);
    let filter = RunFilter { cluster_id: Some(Some(cluster)), statuses, ..RunFilter::default() };
    let runs = session.run_list(&filter, &List::default()).await?.items;
    Ok(runs.into_iter().find(|run| run.parent_id.is_none()).map(|run| run.id))
}

/// Returns the cluster with the status that it had before its active run. A run sets the status before it plans, but
/// must give the same plan as a request for a plan before the run.
async fn before_run(session: &mut Session, cluster: &Cluster) -> ServiceResult<Cluster> {
    let mut cluster = cluster.clone();
    if cluster.status == ClusterStatus::Deployment
        && let Some(run) = active_run(session, cluster.id).await?
        && let Some(work) = session.run_work(run).await?
        && let Some(status) = work.options.get(STATUS_BEFORE).and_then(Json::as_str)
        && let Some(status) = ClusterStatus::parse(status)
    {
        cluster.status = status;
    }
    Ok(cluster)
}

async fn package_access(
    graphs: &Graphs,
    session: &mut Session,
    nodes: &[Node],
) -> ServiceResult<BTreeMap<NodeId, String>> {
    let agents = session.agent_list(None, &List::default()).await?.items;
    let joined: HashMap<NodeId, Micros> =
        agents.iter().filter_map(|agent| Some((agent.node_id?, agent.joined_at))).collect();
    let print = |node: &Node| {
        (node.id, graphs.repositories.access.fingerprint(node.id, joined.get(&node.id).copied()))
    };
    Ok(nodes.iter().map(print).collect())
}

/// Returns documents that a user supplied in place of computed ones, by uid.
pub async fn supplied(
    session: &mut Session,
    cluster: &Cluster,
    kind: FactsKind,
) -> ServiceResult<SuppliedDocuments> {
    let stored = session.facts_get(cluster.id, kind).await?;
    let maps = stored.into_iter().filter_map(|(uid, document)| match document {
        Json::Object(map) => Some((uid, map)),
        _ => None,
    });
    Ok(maps.collect())
}
