//! Sections of plugins: one per plugin name, with all versions that are compatible with the cluster.

use std::collections::BTreeMap;

use serde_json::json;
use stoker_model::{Cluster, ClusterPlugin, Json, JsonMap, NewRelease, Plugin, PluginId, compare_versions};
use stoker_state::json::{merge, merge_into_copy};
use stoker_store::{List, Session};

use crate::error::ServiceResult;
use crate::plugins::enabling::has_legacy_tasks;

/// Key that enables or disables a plugin, as an alternative to `metadata.enabled`.
pub(super) const SWITCH: &str = "value";

/// Default sort position of plugin sections in the settings.
const WEIGHT: i64 = 70;

/// Plugin with all versions that are compatible with a cluster, newest last. Never empty.
pub(super) struct Section {
    pub(super) name: String,
    pub(super) versions: Vec<Version>,
}

pub(super) struct Version {
    pub(super) plugin: Plugin,
    /// State of this version in the cluster; `None` if it was never enabled or configured.
    pub(super) used: Option<ClusterPlugin>,
    /// Whether the plugin has tasks that need `propagate_task_deploy`.
    has_legacy_tasks: bool,
}

pub(super) async fn sections(
    session: &mut Session,
    cluster: &Cluster,
    release: &NewRelease,
) -> ServiceResult<Vec<Section>> {
    let plugins = session.plugin_list(&List::default()).await?.items;
    let used = session.cluster_plugins(cluster.id).await?;
    let mut sections = group(cluster, release, plugins, &used);
    for version in sections.iter_mut().flat_map(|section| &mut section.versions) {
        version.has_legacy_tasks = has_legacy_tasks(session, &version.plugin).await?;
    }
    Ok(sections)
}

fn group(
    cluster: &Cluster,
    release: &NewRelease,
    plugins: Vec<Plugin>,
    used: &[ClusterPlugin],
) -> Vec<Section> {
    let target = release.compatibility_target(Some(&cluster.mode));
    let mut by_name: BTreeMap<String, Vec<Version>> = BTreeMap::new();
    for plugin in plugins {
        let used = used.iter().find(|used| used.plugin_id == plugin.id).cloned();
        // An enabled plugin is included even if an update made it incompatible, so that it can be disabled.
        let is_enabled = used.as_ref().is_some_and(|used| used.enabled);
        if is_enabled || plugin.body.is_compatible_with(target) {
            by_name.entry(plugin.body.name.clone()).or_default().push(Version {
                plugin,
                used,
                has_legacy_tasks: false,
            });
        }
    }
    let sections = by_name.into_iter().map(|(name, mut versions)| {
        versions
            .sort_by(|left, right| compare_versions(&left.plugin.body.version, &right.plugin.body.version));
        Section { name, versions }
    });
    sections.collect()
}

impl Version {
    pub(super) fn is_enabled(&self) -> bool {
        self.used.as_ref().is_some_and(|used| used.enabled)
    }

    /// Returns the settings of this version in the cluster, without the metadata of the section.
    pub(super) fn attributes(&self) -> JsonMap {
        let edited = self.used.as_ref().map(|used| used.attributes.clone()).unwrap_or_default();
        merge_into_copy(&self.default_attributes(), edited)
    }

    pub(super) fn default_attributes(&self) -> JsonMap {
        let mut attributes = self.plugin.body.attributes_metadata.clone();
        attributes.remove("metadata");
        attributes
    }

    /// Returns the section metadata that the plugin declares.
    pub(super) fn metadata(&self) -> JsonMap {
        let metadata = self.plugin.body.attributes_metadata.get("metadata").and_then(Json::as_object);
        metadata.cloned().unwrap_or_default()
    }

    fn view(&self, attributes: JsonMap) -> Json {
        let body = &self.plugin.body;
        let mut view = JsonMap::new();
        let metadata = json!({
            "plugin_id": self.plugin.id.0,
            "plugin_version": body.version,
            "hot_pluggable": body.is_hotpluggable,
            "contains_legacy_tasks": self.has_legacy_tasks,
        });
        view.insert("metadata".to_owned(), metadata);
        view.extend(attributes.into_iter().filter(|(key, _)| key != "metadata"));
        Json::Object(view)
    }
}

impl Section {
    /// Returns the enabled version, or the newest if none is enabled.
    pub(super) fn effective_version(&self) -> Option<&Version> {
        self.enabled().or(self.versions.last())
    }

    pub(super) fn version(&self, id: PluginId) -> Option<&Version> {
        self.versions.iter().find(|version| version.plugin.id == id)
    }

    /// Returns the enabled version.
    pub(super) fn enabled(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.is_enabled())
    }

    /// Returns the section in the form in which conditions read it: the settings of the version in use, and
    /// `value`, which is true if the plugin is enabled.
    pub(super) fn model(&self) -> Json {
        let (selected, is_enabled) = (self.effective_version(), self.enabled().is_some());
        let mut model = selected.map(Version::attributes).unwrap_or_default();
        let mut metadata = JsonMap::from_iter([("toggleable".to_owned(), json!(true))]);
        merge(&mut metadata, selected.map(Version::metadata).unwrap_or_default());
        metadata.extend([
            ("class".to_owned(), json!("plugin")),
            ("enabled".to_owned(), json!(is_enabled)),
            ("chosen_id".to_owned(), json!(selected.map(|version| version.plugin.id.0))),
        ]);
        model.insert("metadata".to_owned(), Json::Object(metadata));
        model.entry("value").or_insert(Json::Bool(is_enabled));
        Json::Object(model)
    }

    pub(super) fn view(&self) -> Json {
        let is_enabled = self.enabled().is_some();
        self.render(self.effective_version(), is_enabled, Version::attributes)
    }

    /// Returns the section as it is before the plugin is enabled or configured.
    pub(super) fn default_view(&self) -> Json {
        self.render(self.versions.last(), false, Version::default_attributes)
    }

    fn render(
        &self,
        selected: Option<&Version>,
        is_enabled: bool,
        attributes: fn(&Version) -> JsonMap,
    ) -> Json {
        let title = selected.map(|version| version.plugin.body.title.as_str());
        let versions: Vec<Json> =
            self.versions.iter().map(|version| version.view(attributes(version))).collect();
        let mut metadata = JsonMap::from_iter([
            ("label".to_owned(), json!(title)),
            ("toggleable".to_owned(), json!(true)),
            ("weight".to_owned(), json!(WEIGHT)),
        ]);
        merge(&mut metadata, selected.map(Version::metadata).unwrap_or_default());
        metadata.extend([
            ("class".to_owned(), json!("plugin")),
            ("enabled".to_owned(), json!(is_enabled)),
            ("default".to_owned(), json!(false)),
            ("chosen_id".to_owned(), json!(selected.map(|version| version.plugin.id.0))),
            ("versions".to_owned(), Json::Array(versions)),
        ]);
        // `value` is an alternative to `metadata.enabled`; bindings of wizards may use either.
        Json::Object(JsonMap::from_iter([
            ("metadata".to_owned(), Json::Object(metadata)),
            (SWITCH.to_owned(), json!(is_enabled)),
        ]))
    }
}
