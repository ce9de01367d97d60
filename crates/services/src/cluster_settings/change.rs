//! Changes of settings: validated as a whole, and applied atomically.

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_model::codes;
use stoker_model::{
    AuditChange, Cluster, ClusterPlugin, Json, JsonMap, NewPlugin, Plugin, PluginId, Release,
};
use stoker_settings::Server;
use stoker_state::json::merge_into_copy;
use stoker_store::{List, NodeFilter, WriteTransaction};

use super::defaults::Defaults;
use super::document::{default_settings, release_of, settings};
use super::restrictions::Violations;
use super::sections::{SWITCH, Section, Version, sections};
use super::{check, lock};
use crate::error::{ServiceError, ServiceResult};
use crate::metadata::holder::{NamedSection, RoleOwner};
use crate::plugins::enabling::{Enabling, has_legacy_tasks, runs_legacy_tasks};
use crate::plugins::links::disabled_link;
use crate::plugins::node_metadata::remove_attributes;
use crate::precondition::Precondition;

/// New state of one version of a plugin in a cluster.
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

    /// Reports whether a locked cluster permits the change.
    pub(super) fn is_allowed_when_locked(&self) -> bool {
        let always_editable = lock::flag(&Json::Object(self.version.metadata()), "always_editable");
        self.version.plugin.body.is_hotpluggable || (always_editable && !self.toggles())
    }

    /// Reports whether the change enables or disables the plugin.
    pub(super) fn toggles(&self) -> bool {
        self.version.is_enabled() != self.new.enabled
    }
}

/// Settings of a cluster after a change.
pub struct ChangedSettings {
    pub cluster: Cluster,
    pub settings: JsonMap,
}

/// Merges `submitted` into the settings of a cluster that was read in the same transaction. `force` permits changes of
/// locked and deployed clusters.
pub async fn settings_update(
    server: &Server,
    mut writing: WriteTransaction,
    mut cluster: Cluster,
    precondition: &Precondition,
    submitted: JsonMap,
    force: bool,
) -> ServiceResult<ChangedSettings> {
    precondition.check(cluster.generation)?;
    update(server, &mut writing, &mut cluster, submitted, force).await?;
    commit(writing, cluster, "cluster.settings").await
}

/// Restores the defaults of the release and disables all plugins. Generated values, such as keys, are retained.
pub async fn settings_reset(
    server: &Server,
    mut writing: WriteTransaction,
    mut cluster: Cluster,
    precondition: &Precondition,
    force: bool,
) -> ServiceResult<ChangedSettings> {
    precondition.check(cluster.generation)?;
    reset(server, &mut writing, &mut cluster, force).await?;
    commit(writing, cluster, "cluster.settings.reset").await
}

/// Commits the change. Values are not part of the audit entry, because some of them are passwords.
async fn commit(
    mut writing: WriteTransaction,
    cluster: Cluster,
    action: &'static str,
) -> ServiceResult<ChangedSettings> {
    let settings = settings(&mut writing, &cluster).await?;
    let target = format!("cluster {}", cluster.id);
    writing.commit(AuditChange { action, target, detail: json!({"name": cluster.name}) }).await?;
    Ok(ChangedSettings { cluster, settings })
}

async fn update(
    server: &Server,
    writing: &mut WriteTransaction,
    cluster: &mut Cluster,
    submitted: JsonMap,
    force: bool,
) -> ServiceResult<()> {
    let release = release_of(writing, cluster).await?;
    let sections = sections(writing, cluster, &release.body).await?;
    let (plugin_sections, submitted): (JsonMap, JsonMap) =
        submitted.into_iter().partition(|(name, section)| is_plugin(&sections, name, section));
    let mut problems = check::sections(&cluster.editable, &submitted);
    let mut changes = Vec::new();
    for (name, section) in &plugin_sections {
        match plugin_changes(&sections, name, section) {
            Ok(plugin_changes) => changes.extend(plugin_changes),
            Err(plugin_problems) => problems.extend(plugin_problems),
        }
    }
    if !problems.is_empty() {
        return Err(ServiceError::refused(problems));
    }
    let generated = Defaults::new(server, cluster, &release.body, writing.now());
    for change in changes.iter_mut().filter(|change| change.new.enabled) {
        change.new.attributes = generated.of_plugin(&change.new.attributes, None)?;
    }
    let editable = merge_into_copy(&cluster.editable, submitted);
    let before = Violations::of(cluster, &release, &sections);
    let ran_legacy_tasks = runs_legacy_tasks(&cluster.editable);
    store(writing, cluster, editable, &changes, force).await?;
    let mut problems = validate(writing, cluster, &release, &changes, &before).await?;
    if ran_legacy_tasks && !runs_legacy_tasks(&cluster.editable) {
        problems.extend(legacy_plugins(writing, cluster).await?);
    }
    if problems.is_empty() { Ok(()) } else { Err(ServiceError::refused(problems)) }
}

/// Validates the stored settings: enabled plugins must be compatible, and the change must not enable settings
/// that a restriction disables. The caller rolls back on error.
async fn validate(
    writing: &mut WriteTransaction,
    cluster: &Cluster,
    release: &Release,
    changes: &[PluginChange<'_>],
    before: &Violations,
) -> ServiceResult<Vec<Diagnostic>> {
    let sections = sections(writing, cluster, &release.body).await?;
    let enabled: Vec<&Plugin> =
        sections.iter().filter_map(Section::enabled).map(|version| &version.plugin).collect();
    let fresh = changes.iter().filter(|change| change.enables());
    let enabling = Enabling {
        settings: &cluster.editable,
        components: &cluster.components,
        release,
        plugins: enabled,
        fresh: fresh.map(|change| change.version.plugin.body.name.as_str()).collect(),
    };
    let mut reasons = enabling.problems(writing, switch_path).await?;
    reasons.extend(Violations::of(cluster, release, &sections).since(before));
    Ok(reasons)
}

/// Returns a refusal for each enabled plugin with legacy tasks, which need their propagation.
async fn legacy_plugins(writing: &mut WriteTransaction, cluster: &Cluster) -> ServiceResult<Vec<Diagnostic>> {
    let mut refusals = Vec::new();
    for link in writing.cluster_plugins(cluster.id).await?.into_iter().filter(|link| link.enabled) {
        if let Some(plugin) = writing.plugin_get(link.plugin_id).await?
            && has_legacy_tasks(writing, &plugin).await?
        {
            let message = format!(
                "`common.propagate_task_deploy` cannot be switched off: plugin `{}` is enabled and has stage tasks, or \
                 tasks of a version below 2.0.0; disable it first, or together with the setting",
                plugin.body.name
            );
            let path = "editable.common.propagate_task_deploy.value";
            refusals.push(Diagnostic::plain(message).path(path).code(codes::LEGACY_TASKS));
        }
    }
    Ok(refusals)
}

/// Returns the path of the setting that enables a plugin.
fn switch_path(plugin: &str) -> String {
    format!("editable.{plugin}.metadata.enabled")
}

async fn reset(
    server: &Server,
    writing: &mut WriteTransaction,
    cluster: &mut Cluster,
    force: bool,
) -> ServiceResult<()> {
    let release = release_of(writing, cluster).await?;
    let sections = sections(writing, cluster, &release.body).await?;
    let versions = sections.iter().flat_map(|section| &section.versions);
    let changes: Vec<PluginChange<'_>> = versions
        .filter(|version| version.used.is_some())
        .map(|version| PluginChange { version, new: disabled_link(version.plugin.id) })
        .filter(|change| change.version.used.as_ref() != Some(&change.new))
        .collect();
    let editable = default_settings(server, cluster, &release, writing.now())?;
    store(writing, cluster, editable, &changes, force).await
}

async fn store(
    writing: &mut WriteTransaction,
    cluster: &mut Cluster,
    editable: JsonMap,
    changes: &[PluginChange<'_>],
    force: bool,
) -> ServiceResult<()> {
    if !force {
        lock::check(cluster, &editable, changes)?;
    }
    // Disable first, so that two versions of a plugin are never enabled at the same time.
    let (disabled, other): (Vec<&PluginChange<'_>>, Vec<_>) =
        changes.iter().partition(|change| change.disables());
    for change in disabled.iter().chain(&other) {
        writing.cluster_plugin_set(cluster.id, &change.new).await?;
    }
    require_roles_unused(writing, cluster, &disabled).await?;
    // Another version of the plugin continues with its node attributes.
    let is_kept = |plugin: &NewPlugin| {
        other.iter().any(|change| change.enables() && change.version.plugin.body.name == plugin.name)
    };
    let bodies = disabled.iter().map(|change| &change.version.plugin.body).filter(|plugin| !is_kept(plugin));
    let bodies: Vec<&NewPlugin> = bodies.collect();
    remove_attributes(writing, cluster, &bodies).await?;
    cluster.editable = editable;
    *cluster = writing.cluster_update(cluster).await?;
    Ok(())
}

/// Rejects disabling a plugin while nodes have a role that only this plugin provides.
async fn require_roles_unused(
    writing: &mut WriteTransaction,
    cluster: &Cluster,
    disabled: &[&PluginChange<'_>],
) -> ServiceResult<()> {
    if disabled.is_empty() {
        return Ok(());
    }
    let remaining_roles = RoleOwner::of_cluster(writing, cluster.clone()).await?.all(NamedSection::Roles);
    let filter = NodeFilter { cluster: Some(Some(cluster.id)), ..NodeFilter::default() };
    let nodes = writing.node_list(&filter, &List::default()).await?.items;
    let mut reasons = Vec::new();
    for change in disabled {
        let plugin = &change.version.plugin.body;
        for role in plugin.roles_metadata.keys().filter(|role| !remaining_roles.contains_key(*role)) {
            let has_role =
                nodes.iter().filter(|node| node.roles.contains(role) || node.pending_roles.contains(role));
            let ids: Vec<String> = has_role.map(|node| node.id.to_string()).collect();
            if !ids.is_empty() {
                let ids = ids.join(", ");
                let message = format!(
                    "plugin `{}` cannot be disabled: nodes {ids} have its role `{role}`",
                    plugin.name
                );
                reasons.push(Diagnostic::plain(message).path(switch_path(&plugin.name)));
            }
        }
    }
    if reasons.is_empty() { Ok(()) } else { Err(ServiceError::refused(reasons)) }
}

fn is_plugin(sections: &[Section], name: &str, section: &Json) -> bool {
    let is_declared = section.pointer("/metadata/class").is_some_and(|class| class == "plugin");
    is_declared || sections.iter().any(|section| section.name == name)
}

/// Computes the changes that the section of a plugin requests: one version enabled with its settings, or
/// none.
fn plugin_changes<'a>(
    sections: &'a [Section],
    name: &str,
    submitted: &Json,
) -> Result<Vec<PluginChange<'a>>, Vec<Diagnostic>> {
    let path = format!("editable.{name}");
    let problem = |at: &str, message: String| {
        vec![Diagnostic::plain(format!("{path}{at}: {message}")).path(format!("{path}{at}"))]
    };
    let coded = |code: &'static str, problems: Vec<Diagnostic>| {
        Err(problems.into_iter().map(|problem| problem.code(code)).collect())
    };
    let Some(section) = sections.iter().find(|section| section.name == name) else {
        let problems = problem("", "no such plugin for this cluster".to_owned());
        return coded(codes::PLUGIN_UNSUPPORTED, problems);
    };
    let Some(submitted) = submitted.as_object() else {
        return Err(problem("", "expected a map of settings".to_owned()));
    };
    let metadata = submitted.get("metadata");
    let target = match metadata.and_then(|metadata| metadata.get("chosen_id")) {
        None | Some(Json::Null) => section.effective_version(),
        Some(id) => id.as_i64().and_then(|id| section.version(PluginId(id))),
    };
    let Some(target) = target else {
        let ids: Vec<String> = section.versions.iter().map(|version| version.plugin.id.to_string()).collect();
        let message = format!("must be the ID of a compatible version: {}", ids.join(", "));
        return coded(codes::PLUGIN_VERSION, problem(".metadata.chosen_id", message));
    };
    let was_enabled = section.enabled().is_some();
    let switch = submitted.get(SWITCH).and_then(Json::as_bool);
    let enabled = match metadata.and_then(|metadata| metadata.get("enabled")) {
        None => switch.unwrap_or(was_enabled),
        // Of two that differ, the one that was edited applies.
        Some(Json::Bool(flag)) if switch.is_some_and(|switch| switch != *flag) => !was_enabled,
        Some(Json::Bool(flag)) => *flag,
        Some(_) => return Err(problem(".metadata.enabled", "must be true or false".to_owned())),
    };
    let edited = submitted_settings(submitted, target.plugin.id);
    let problems = check::settings(&path, &target.attributes(), &edited);
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(section
        .versions
        .iter()
        .filter_map(|version| version_change(version, target, enabled, &edited))
        .collect())
}

fn version_change<'a>(
    version: &'a Version,
    target: &Version,
    enabled: bool,
    edited: &JsonMap,
) -> Option<PluginChange<'a>> {
    let old = version.used.clone().unwrap_or_else(|| disabled_link(version.plugin.id));
    let mut new = ClusterPlugin { enabled: enabled && version.plugin.id == target.plugin.id, ..old.clone() };
    if new.enabled {
        // Settings are stored for the enabled version only.
        new.attributes = merge_into_copy(&version.attributes(), edited.clone());
    }
    (new != old).then_some(PluginChange { version, new })
}

/// Returns the submitted settings of a version: the settings next to `metadata`, overridden by its entry in
/// `metadata.versions`.
fn submitted_settings(submitted: &JsonMap, id: PluginId) -> JsonMap {
    let without_metadata = |map: &JsonMap| -> JsonMap {
        map.iter()
            .filter(|(key, _)| *key != "metadata")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let versions =
        submitted.get("metadata").and_then(|metadata| metadata.get("versions")).and_then(Json::as_array);
    let is_of_version = |entry: &&JsonMap| {
        let plugin_id = entry.get("metadata").and_then(|metadata| metadata.get("plugin_id"));
        plugin_id.and_then(Json::as_i64) == Some(id.0)
    };
    let entry = versions.and_then(|versions| versions.iter().filter_map(Json::as_object).find(is_of_version));
    let mut edited = without_metadata(submitted);
    if edited.get(SWITCH).is_some_and(Json::is_boolean) {
        edited.shift_remove(SWITCH);
    }
    edited.extend(entry.map(without_metadata).unwrap_or_default());
    edited
}
