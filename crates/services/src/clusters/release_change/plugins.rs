//! Plugins of a cluster that moves to another release.

use std::collections::BTreeSet;

use stoker_diagnostics::Diagnostic;
use stoker_model::{Cluster, ClusterPlugin, JsonMap, Plugin, Release, compare_versions};
use stoker_state::json::merge_into_copy;
use stoker_store::{List, WriteTransaction};

use super::release_label;
use super::settings::move_settings;
use crate::cluster_settings::Defaults;
use crate::error::ServiceResult;
use crate::plugins::enabling::Enabling;
use crate::plugins::links::disabled_link;

/// What happens to a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginEffect {
    /// The enabled version stays enabled.
    Kept,
    /// The enabled version does not fit the new release; another version that does is enabled in its place.
    Replaced,
    /// No version fits the new release; the plugin is enabled, which refuses the change.
    Incompatible,
    /// The plugin is not enabled and can be enabled after the change.
    Available,
    /// The plugin is not enabled and cannot be enabled after the change.
    Unavailable,
}

impl PluginEffect {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Replaced => "replaced",
            Self::Incompatible => "incompatible",
            Self::Available => "available",
            Self::Unavailable => "unavailable",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginChange {
    pub name: String,
    pub version: String,
    pub effect: PluginEffect,
    /// The version that replaces it.
    pub new_version: Option<String>,
}

/// Moves the plugins of a cluster whose release is already changed. Returns what happens to them, and the reasons that
/// refuse the change.
pub(super) async fn move_plugins(
    writing: &mut WriteTransaction,
    cluster: &Cluster,
    from: &Release,
    to: &Release,
    defaults: &Defaults<'_>,
) -> ServiceResult<(Vec<PluginChange>, Vec<Diagnostic>)> {
    let plugins = writing.plugin_list(&List::default()).await?.items;
    let links = writing.cluster_plugins(cluster.id).await?;
    let mode = Some(cluster.mode.as_str());
    let fits = |plugin: &Plugin, release: &Release| {
        plugin.body.is_compatible_with(release.body.compatibility_target(mode))
    };
    let link_of = |plugin: &Plugin| links.iter().find(|link| link.plugin_id == plugin.id);
    for plugin in plugins.iter().filter(|plugin| fits(plugin, to) && link_of(plugin).is_none()) {
        writing.cluster_plugin_set(cluster.id, &disabled_link(plugin.id)).await?;
    }
    let mut changes = Vec::new();
    let mut refusals = Vec::new();
    let mut enabled: Vec<&Plugin> = Vec::new();
    for plugin in &plugins {
        let change = |effect, new_version: Option<&Plugin>| PluginChange {
            name: plugin.body.name.clone(),
            version: plugin.body.version.clone(),
            effect,
            new_version: new_version.map(|plugin| plugin.body.version.clone()),
        };
        let fits_new = fits(plugin, to);
        let Some(link) = link_of(plugin).filter(|link| link.enabled) else {
            match (fits(plugin, from), fits_new) {
                (false, true) => changes.push(change(PluginEffect::Available, None)),
                (true, false) => changes.push(change(PluginEffect::Unavailable, None)),
                _ => {}
            }
            continue;
        };
        if fits_new {
            changes.push(change(PluginEffect::Kept, None));
            enabled.push(plugin);
            continue;
        }
        let others = plugins.iter().filter(|other| other.body.name == plugin.body.name && fits(other, to));
        let newest = others.max_by(|a, b| compare_versions(&a.body.version, &b.body.version));
        let Some(newest) = newest else {
            changes.push(change(PluginEffect::Incompatible, None));
            let message = format!(
                "plugin `{}` {} is enabled, but neither it nor another installed version supports {}",
                plugin.body.name,
                plugin.body.version,
                release_label(to)
            );
            let help = "disable the plugin, or install a version that supports the release";
            refusals.push(Diagnostic::plain(message).path("release_id").plugin(&plugin.body.name).help(help));
            continue;
        };
        changes.push(change(PluginEffect::Replaced, Some(newest)));
        // Disable first: two versions of a plugin are never enabled at the same time.
        writing.cluster_plugin_set(cluster.id, &ClusterPlugin { enabled: false, ..link.clone() }).await?;
        let existing = link_of(newest).map(|link| &link.attributes);
        let attributes = defaults.of_plugin(&moved_attributes(plugin, link, newest), existing)?;
        let new_link = ClusterPlugin { plugin_id: newest.id, enabled: true, attributes };
        writing.cluster_plugin_set(cluster.id, &new_link).await?;
        enabled.push(newest);
    }
    // A version that replaces an enabled one is reported with it.
    let replaced: BTreeSet<(String, String)> = changes
        .iter()
        .filter_map(|change| Some((change.name.clone(), change.new_version.clone()?)))
        .collect();
    changes.retain(|change| {
        change.effect != PluginEffect::Available
            || !replaced.contains(&(change.name.clone(), change.version.clone()))
    });
    changes.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| compare_versions(&a.version, &b.version)));
    let enabling = Enabling {
        settings: &cluster.editable,
        components: &cluster.components,
        release: to,
        fresh: enabled.iter().map(|plugin| plugin.body.name.as_str()).collect(),
        plugins: enabled.clone(),
    };
    refusals.extend(enabling.problems(writing, |_| "release_id".to_owned()).await?);
    Ok((changes, refusals))
}

/// Returns the settings of a version that replaces another: values that the operator changed are kept where the
/// new version has the setting.
fn moved_attributes(plugin: &Plugin, link: &ClusterPlugin, newest: &Plugin) -> JsonMap {
    let defaults = |plugin: &Plugin| {
        let mut attributes = plugin.body.attributes_metadata.clone();
        attributes.remove("metadata");
        attributes
    };
    let old = defaults(plugin);
    let current = merge_into_copy(&old, link.attributes.clone());
    move_settings(&current, &old, defaults(newest)).settings
}
