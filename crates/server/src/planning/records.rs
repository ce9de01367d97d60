//! The records that a state is computed from.

use std::collections::BTreeMap;

use stoker_model::{Cluster, FactsKind, Json, Node, NodeId, Release};
use stoker_state::{EnabledPlugin, NewState, StateInput, Supplied, new_state};
use stoker_store::{List, NodeFilter, Session};

use crate::http::error::{ApiError, ApiResult};
use crate::parts::plugin_files::scripts_of;
use crate::state::App;

/// A cluster and what belongs to it, read in one moment.
pub(crate) struct Records {
    pub(super) cluster: Cluster,
    pub(super) release: Release,
    pub(super) plugins: Vec<EnabledPlugin>,
    /// All nodes of the cluster.
    pub(super) nodes: Vec<Node>,
    pub(super) primaries: BTreeMap<String, NodeId>,
    /// Where scripts of plugins are on nodes.
    scripts_root: String,
}

impl Records {
    pub(crate) async fn read(app: &App, session: &mut Session, cluster: &Cluster) -> ApiResult<Self> {
        let release = session.release_get(cluster.release_id).await?;
        let release = release.ok_or_else(|| ApiError::not_found("Release"))?;
        let mut plugins = Vec::new();
        for chosen in session.cluster_plugins(cluster.id).await?.into_iter().filter(|chosen| chosen.enabled) {
            if let Some(plugin) = session.plugin_get(chosen.plugin_id).await? {
                plugins.push(EnabledPlugin { plugin, attributes: chosen.attributes, scripts_digest: None });
            }
        }
        let enabled = plugins.iter().map(|enabled| &enabled.plugin);
        let mut scripts = scripts_of(app, session, cluster, &release, enabled).await?;
        for enabled in &mut plugins {
            enabled.scripts_digest = scripts.remove(&enabled.plugin.id).and_then(|scripts| scripts.digest);
        }
        let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
        Ok(Self {
            release,
            plugins,
            nodes: session.node_list(&filter, &List::default()).await?.items,
            primaries: session.primaries_get(cluster.id).await?,
            cluster: cluster.clone(),
            scripts_root: app.settings.plugin_scripts_root.clone(),
        })
    }

    pub(crate) fn new_state(&self) -> NewState {
        new_state(&StateInput {
            cluster: &self.cluster,
            release: &self.release,
            plugins: &self.plugins,
            scripts_root: &self.scripts_root,
            nodes: &self.nodes,
            primaries: &self.primaries,
        })
    }
}

/// Documents that somebody supplied in place of computed ones, by uid.
pub(crate) async fn supplied(
    session: &mut Session,
    cluster: &Cluster,
    kind: FactsKind,
) -> ApiResult<Supplied> {
    let stored = session.facts_get(cluster.id, kind).await?;
    let maps = stored.into_iter().filter_map(|(uid, document)| match document {
        Json::Object(map) => Some((uid, map)),
        _ => None,
    });
    Ok(maps.collect())
}
