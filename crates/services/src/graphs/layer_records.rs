//! Records that the layers of a cluster's graph are built from, read from one consistent snapshot.

use std::collections::{BTreeMap, HashMap};

use stoker_model::{Cluster, Graph, GraphType, Owner, Plugin, PluginId, Release};
use stoker_registry::stages::has_stages;
use stoker_store::{GraphFilter, List, Session};

use crate::error::ServiceResult;
use crate::repositories::AppliedSources;

use super::layers::LayerFilter;

/// Reading these records needs a session. Building [`super::Layers`] from them merges graphs and reads plugin files without
/// one, so that a write transaction can end before.
pub struct LayerRecords {
    pub(super) cluster: Cluster,
    pub(super) graph_type: GraphType,
    pub(super) layer_filter: LayerFilter,
    /// Enabled plugins.
    pub(super) plugins: Vec<Plugin>,
    /// Release of the cluster; `None` if no plugin is enabled.
    pub(super) cluster_release: Option<Release>,
    /// Directories of plugins that were installed from a package.
    pub(super) folders: BTreeMap<String, PluginId>,
    pub(super) graphs: HashMap<Owner, Graph>,
    pub(super) applied_sources: AppliedSources,
}

impl LayerRecords {
    pub async fn read(
        session: &mut Session,
        cluster: &Cluster,
        graph_type: &GraphType,
        layer_filter: LayerFilter,
    ) -> ServiceResult<Self> {
        let plugins =
            if layer_filter.plugins { enabled_plugins(session, cluster).await? } else { Vec::new() };
        let (cluster_release, folders) = if plugins.is_empty() {
            (None, BTreeMap::new())
        } else {
            (session.release_get(cluster.release_id).await?, session.plugin_folders().await?)
        };
        let mut owners: Vec<Owner> = plugins.iter().map(|plugin| Owner::Plugin(plugin.id)).collect();
        // Stage tasks of plugins are anchored to tasks of the other layers, so these are read too.
        let (has_release, has_own) = (layer_filter.release, layer_filter.cluster);
        owners.extend((has_release || layer_filter.plugins).then_some(Owner::Release(cluster.release_id)));
        owners.extend((has_own || layer_filter.plugins).then_some(Owner::Cluster(cluster.id)));
        let filter = GraphFilter { owners: Some(owners), types: Some(vec![graph_type.clone()]) };
        let stored = session.graph_list(&filter, &List::default()).await?.items;
        let applied_sources = if layer_filter == LayerFilter::ALL && has_stages(graph_type) {
            AppliedSources::read(session, cluster).await?
        } else {
            AppliedSources::default()
        };
        Ok(Self {
            cluster: cluster.clone(),
            graph_type: graph_type.clone(),
            layer_filter,
            plugins,
            cluster_release,
            folders,
            graphs: stored.into_iter().map(|graph| (graph.owner, graph)).collect(),
            applied_sources,
        })
    }
}

async fn enabled_plugins(session: &mut Session, cluster: &Cluster) -> ServiceResult<Vec<Plugin>> {
    let mut plugins = Vec::new();
    for link in session.cluster_plugins(cluster.id).await? {
        if link.enabled {
            plugins.extend(session.plugin_get(link.plugin_id).await?);
        }
    }
    Ok(plugins)
}
