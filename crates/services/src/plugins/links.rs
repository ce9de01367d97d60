//! Links between clusters and plugins: one for each compatible version, disabled by default.

use stoker_model::{Cluster, ClusterPlugin, JsonMap, NewRelease, Plugin, PluginId};
use stoker_store::{ClusterFilter, List, WriteTransaction};

use crate::error::ServiceResult;

/// Returns a disabled link with the default settings of the plugin.
pub fn disabled_link(plugin_id: PluginId) -> ClusterPlugin {
    ClusterPlugin { plugin_id, enabled: false, attributes: JsonMap::new() }
}

/// Links a new cluster to the plugins that fit it.
pub async fn link_cluster(
    writing: &mut WriteTransaction,
    cluster: &Cluster,
    release: &NewRelease,
) -> ServiceResult<()> {
    let target = release.compatibility_target(Some(&cluster.mode));
    let plugins = writing.plugin_list(&List::default()).await?.items;
    for plugin in plugins.iter().filter(|plugin| plugin.body.is_compatible_with(target)) {
        writing.cluster_plugin_set(cluster.id, &disabled_link(plugin.id)).await?;
    }
    Ok(())
}

/// Links a plugin to the compatible clusters that have no link yet.
pub async fn link_plugin(writing: &mut WriteTransaction, plugin: &Plugin) -> ServiceResult<()> {
    for release in writing.release_list(&List::default()).await?.items {
        if !plugin.body.is_compatible_with(release.body.compatibility_target(None)) {
            continue;
        }
        let filter = ClusterFilter { release_id: Some(release.id), ..ClusterFilter::default() };
        for cluster in writing.cluster_list(&filter, &List::default()).await?.items {
            let links = writing.cluster_plugins(cluster.id).await?;
            let is_known = links.iter().any(|link| link.plugin_id == plugin.id);
            if !is_known
                && plugin.body.is_compatible_with(release.body.compatibility_target(Some(&cluster.mode)))
            {
                writing.cluster_plugin_set(cluster.id, &disabled_link(plugin.id)).await?;
            }
        }
    }
    Ok(())
}
