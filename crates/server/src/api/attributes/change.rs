//! Changing settings: everything is judged before anything is written.

use stoker_model::{Cluster, ClusterPlugin, Json, JsonMap, Plugin, PluginId, Release};
use stoker_store::{List, NodeFilter, Writing};
use stoker_services::ErrorDetail;
use stoker_state::json::merged;
use stoker_services::plugins::enabling::Enabling;
use stoker_services::metadata::holder::{Holder, NamedSection};
use stoker_services::plugins::links::disabled_link;

use super::document::{default_settings, release_of};
use super::plugins::{SWITCH, Section, Version, sections};
use super::restrictions::Violations;
use super::{check, lock};
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// What shall become of one version of a plugin.
pub(super) struct PluginChange<'a> {
    pub(super) version: &'a Version,
    pub(super) new: ClusterPlugin,
}

impl PluginChange<'_> {
    fn disables(&self) -> bool {
        self.version.is_enabled() && !self.new.enabled
    }

    fn enables(&self) -> bool {
        !self.version.is_enabled() && self.new.enabled
    }

    /// Whether it may be done to a cluster that is deployed.
    pub(super) fn is_harmless(&self) -> bool {
        let always_editable = lock::flag(&Json::Object(self.version.metadata()), "always_editable");
        self.version.plugin.body.is_hotpluggable || (always_editable && !self.switches())
    }

    /// Whether the plugin is enabled or disabled by it.
    pub(super) fn switches(&self) -> bool {
        self.version.is_enabled() != self.new.enabled
    }
}

pub(super) async fn update(
    writing: &mut Writing,
    cluster: &mut Cluster,
    given: JsonMap,
    force: bool,
) -> ApiResult<()> {
    let release = release_of(writing, cluster).await?;
    let sections = sections(writing, cluster, &release.body).await?;
    let (of_plugins, given): (JsonMap, JsonMap) =
        given.into_iter().partition(|(name, section)| is_plugin(&sections, name, section));
    let mut problems = check::sections(&cluster.editable, &given);
    let mut changes = Vec::new();
    for (name, section) in &of_plugins {
        match plugin_changes(&sections, name, section) {
            Ok(of_plugin) => changes.extend(of_plugin),
            Err(of_plugin) => problems.extend(of_plugin),
        }
    }
    if !problems.is_empty() {
        return Err(ApiError::refused(problems));
    }
    let editable = merged(&cluster.editable, given);
    let before = Violations::of(cluster, &release, &sections);
    store(writing, cluster, editable, &changes, force).await?;
    judge(writing, cluster, &release, &changes, &before).await
}

/// Whether the settings that are stored now can be: what enabled plugins bring goes together, and nothing is switched on
/// that a restriction disables.
async fn judge(
    writing: &mut Writing,
    cluster: &Cluster,
    release: &Release,
    changes: &[PluginChange<'_>],
    before: &Violations,
) -> ApiResult<()> {
    let sections = sections(writing, cluster, &release.body).await?;
    let enabled: Vec<&Plugin> =
        sections.iter().filter_map(Section::enabled).map(|version| &version.plugin).collect();
    let fresh = changes.iter().filter(|change| change.enables());
    let enabling = Enabling {
        cluster,
        release,
        plugins: enabled,
        fresh: fresh.map(|change| change.version.plugin.body.name.as_str()).collect(),
    };
    let mut reasons = enabling.problems(writing, switch_path).await?;
    reasons.extend(Violations::of(cluster, release, &sections).since(before));
    if reasons.is_empty() { Ok(()) } else { Err(ApiError::refused(reasons)) }
}

/// Where a plugin is switched on and off.
fn switch_path(plugin: &str) -> String {
    format!("editable.{plugin}.metadata.enabled")
}

pub(super) async fn reset(
    app: &App,
    writing: &mut Writing,
    cluster: &mut Cluster,
    force: bool,
) -> ApiResult<()> {
    let release = release_of(writing, cluster).await?;
    let sections = sections(writing, cluster, &release.body).await?;
    let versions = sections.iter().flat_map(|section| &section.versions);
    let changes: Vec<PluginChange<'_>> = versions
        .filter(|version| version.used.is_some())
        .map(|version| PluginChange { version, new: disabled_link(version.plugin.id) })
        .filter(|change| change.version.used.as_ref() != Some(&change.new))
        .collect();
    let editable = default_settings(app, cluster, &release)?;
    store(writing, cluster, editable, &changes, force).await
}

async fn store(
    writing: &mut Writing,
    cluster: &mut Cluster,
    editable: JsonMap,
    changes: &[PluginChange<'_>],
    force: bool,
) -> ApiResult<()> {
    if !force {
        lock::check(cluster, &editable, changes)?;
    }
    // Those that go first, so that two versions are never enabled together.
    let (gone, other): (Vec<&PluginChange<'_>>, Vec<_>) =
        changes.iter().partition(|change| change.disables());
    for change in gone.iter().chain(&other) {
        writing.cluster_plugin_set(cluster.id, &change.new).await?;
    }
    roles_stay(writing, cluster, &gone).await?;
    cluster.editable = editable;
    *cluster = writing.cluster_update(cluster).await?;
    Ok(())
}

/// A plugin cannot go while nodes have a role that nobody else provides.
async fn roles_stay(writing: &mut Writing, cluster: &Cluster, gone: &[&PluginChange<'_>]) -> ApiResult<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let left = Holder::of_cluster(writing, cluster.clone()).await?.all(NamedSection::Roles);
    let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
    let nodes = writing.node_list(&filter, &List::default()).await?.items;
    let mut reasons = Vec::new();
    for change in gone {
        let plugin = &change.version.plugin.body;
        for role in plugin.roles_metadata.keys().filter(|role| !left.contains_key(*role)) {
            let has_role =
                nodes.iter().filter(|node| node.roles.contains(role) || node.pending_roles.contains(role));
            let ids: Vec<String> = has_role.map(|node| node.id.to_string()).collect();
            if !ids.is_empty() {
                let ids = ids.join(", ");
                let message = format!(
                    "plugin `{}` cannot be disabled: nodes {ids} have its role `{role}`",
                    plugin.name
                );
                reasons.push(ErrorDetail::new(switch_path(&plugin.name), message));
            }
        }
    }
    if reasons.is_empty() { Ok(()) } else { Err(ApiError::refused(reasons)) }
}

fn is_plugin(sections: &[Section], name: &str, section: &Json) -> bool {
    let says_so = section.pointer("/metadata/class").is_some_and(|class| class == "plugin");
    says_so || sections.iter().any(|section| section.name == name)
}

/// What the section of a plugin asks for: one version enabled with its settings, or none.
fn plugin_changes<'a>(
    sections: &'a [Section],
    name: &str,
    given: &Json,
) -> Result<Vec<PluginChange<'a>>, Vec<ErrorDetail>> {
    let path = format!("editable.{name}");
    let problem = |at: &str, message: String| {
        vec![ErrorDetail::new(format!("{path}{at}"), format!("{path}{at}: {message}"))]
    };
    let Some(section) = sections.iter().find(|section| section.name == name) else {
        return Err(problem("", "there is no such plugin for this environment".to_owned()));
    };
    let Some(given) = given.as_object() else { return Err(problem("", "a section is a map".to_owned())) };
    let metadata = given.get("metadata");
    let chosen = match metadata.and_then(|metadata| metadata.get("chosen_id")) {
        None | Some(Json::Null) => section.chosen(),
        Some(id) => id.as_i64().and_then(|id| section.version(PluginId(id))),
    };
    let Some(chosen) = chosen else {
        let ids: Vec<String> = section.versions.iter().map(|version| version.plugin.id.to_string()).collect();
        return Err(problem(
            ".metadata.chosen_id",
            format!("must be the id of a version that fits: {}", ids.join(", ")),
        ));
    };
    let enabled = match metadata.and_then(|metadata| metadata.get("enabled")) {
        None => given.get(SWITCH).and_then(Json::as_bool).unwrap_or(section.enabled().is_some()),
        Some(Json::Bool(flag)) => *flag,
        Some(_) => return Err(problem(".metadata.enabled", "must be true or false".to_owned())),
    };
    let edited = edited(given, chosen.plugin.id);
    let wrong = check::settings(&path, &chosen.attributes(), &edited);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(section.versions.iter().filter_map(|version| of_version(version, chosen, enabled, &edited)).collect())
}

fn of_version<'a>(
    version: &'a Version,
    chosen: &Version,
    enabled: bool,
    edited: &JsonMap,
) -> Option<PluginChange<'a>> {
    let old = version.used.clone().unwrap_or_else(|| disabled_link(version.plugin.id));
    let mut new = ClusterPlugin { enabled: enabled && version.plugin.id == chosen.plugin.id, ..old.clone() };
    if new.enabled {
        // Settings are kept for the version that is in use only.
        new.attributes = merged(&version.attributes(), edited.clone());
    }
    (new != old).then_some(PluginChange { version, new })
}

/// The settings of a version: those of its entry in `versions`, and those beside `metadata`.
fn edited(given: &JsonMap, id: PluginId) -> JsonMap {
    let without_metadata = |map: &JsonMap| -> JsonMap {
        map.iter()
            .filter(|(key, _)| *key != "metadata")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let versions =
        given.get("metadata").and_then(|metadata| metadata.get("versions")).and_then(Json::as_array);
    let is_meant = |entry: &&JsonMap| {
        let plugin_id = entry.get("metadata").and_then(|metadata| metadata.get("plugin_id"));
        plugin_id.and_then(Json::as_i64) == Some(id.0)
    };
    let entry = versions.and_then(|versions| versions.iter().filter_map(Json::as_object).find(is_meant));
    let mut edited = without_metadata(given);
    if edited.get(SWITCH).is_some_and(Json::is_boolean) {
        edited.shift_remove(SWITCH);
    }
    edited.extend(entry.map(without_metadata).unwrap_or_default());
    edited
}
