//! Checks before plugins are enabled in a cluster.

use std::collections::BTreeSet;

use stoker_diagnostics::Diagnostic;
use stoker_model::codes;
use stoker_model::{
    Cluster, GraphType, Json, JsonMap, Owner, Plugin, PluginId, Release, Task, compare_versions,
};
use stoker_registry::contributions::{Collision, ReleaseMetadata, merge_contributions};
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};

use super::catalog::{conflict_diagnostic, registry};

const LEGACY_REFUSED: &str = "it has stage tasks, or tasks of a version below 2.0.0, and \
    `common.propagate_task_deploy` is off in this cluster; enable it first, or together with the plugin";
/// First task version with explicit dependencies.
const TASK_VERSION: &str = "2.0.0";
/// Task types that only order other tasks.
const ORDERING_TYPES: &[&str] = &["group", "skipped", "stage"];

/// Reports whether legacy tasks take part in deployments of a cluster; true unless its settings disable it.
pub fn runs_legacy_tasks(settings: &JsonMap) -> bool {
    let setting = settings.get("common").and_then(|common| common.get("propagate_task_deploy"));
    setting.and_then(|setting| setting.get("value")).is_none_or(|value| *value != Json::Bool(false))
}

/// Reports whether a plugin has legacy tasks: stage tasks, or tasks below version 2.0.0.
pub async fn has_legacy_tasks(session: &mut Session, plugin: &Plugin) -> ServiceResult<bool> {
    if !plugin.body.tasks.is_empty() {
        return Ok(true);
    }
    let graph = session.graph_find(Owner::Plugin(plugin.id), &GraphType::default()).await?;
    let is_legacy = |task: &Task| {
        let text = |field: &str| task.field(field).and_then(Json::as_str);
        // An override without a type has the version of the task that it overrides.
        let is_mark = text("type").is_none_or(|task_type| ORDERING_TYPES.contains(&task_type));
        !is_mark && compare_versions(text("version").unwrap_or("1.0.0"), TASK_VERSION).is_lt()
    };
    Ok(graph.is_some_and(|graph| graph.tasks.iter().any(|stored| is_legacy(&stored.task))))
}

/// Refuses a change that gives legacy tasks to a plugin which is enabled in clusters where these take no part in
/// deployments.
pub struct LegacyTasksGuard {
    /// The plugin, unless it has legacy tasks already.
    plugin: Option<PluginId>,
}

impl LegacyTasksGuard {
    /// Reads the state before a change of a plugin or of a graph with this owner.
    pub async fn before(session: &mut Session, owner: Owner) -> ServiceResult<Self> {
        let plugin = match owner {
            Owner::Plugin(id) => session.plugin_get(id).await?,
            _ => None,
        };
        let plugin = match plugin {
            Some(plugin) if !has_legacy_tasks(session, &plugin).await? => Some(plugin.id),
            _ => None,
        };
        Ok(Self { plugin })
    }

    /// Checks the state after the change. The caller rolls back on error.
    pub async fn check(self, session: &mut Session) -> ServiceResult<()> {
        let Some(id) = self.plugin else { return Ok(()) };
        let Some(plugin) = session.plugin_get(id).await? else { return Ok(()) };
        if !has_legacy_tasks(session, &plugin).await? {
            return Ok(());
        }
        let mut refusing = Vec::new();
        for cluster in session.plugin_clusters(id).await? {
            let cluster = session.cluster_get(cluster).await?;
            refusing.extend(cluster.filter(|cluster| !runs_legacy_tasks(&cluster.editable)));
        }
        if refusing.is_empty() {
            return Ok(());
        }
        let refusal = |cluster: &Cluster| {
            let message = format!(
                "plugin `{}` is enabled in cluster {} (`{}`), where `common.propagate_task_deploy` is off, so it cannot have \
                 stage tasks, or tasks of a version below 2.0.0",
                plugin.body.name, cluster.id, cluster.name
            );
            let help = "enable the setting, or disable the plugin in the cluster";
            Diagnostic::plain(message).plugin(&plugin.body.name).code(codes::LEGACY_TASKS).help(help)
        };
        Err(ServiceError::refused(refusing.iter().map(refusal).collect()))
    }
}

/// A cluster and its plugins after a change.
pub struct Enabling<'a> {
    /// Settings of the release in the cluster.
    pub settings: &'a JsonMap,
    /// Components of the cluster.
    pub components: &'a [String],
    pub release: &'a Release,
    /// All plugins enabled after the change, without duplicate names.
    pub plugins: Vec<&'a Plugin>,
    /// Names of plugins that the change enables; only their conflicts are reported.
    pub fresh: BTreeSet<&'a str>,
}

impl Enabling<'_> {
    /// Returns every reason against the change; `path` maps a plugin name to its document path.
    pub async fn problems(
        &self,
        session: &mut Session,
        path: impl Fn(&str) -> String,
    ) -> ServiceResult<Vec<Diagnostic>> {
        if self.fresh.is_empty() {
            return Ok(Vec::new());
        }
        let refusal = |plugin: &str, reason: &str| {
            let message = format!("plugin `{plugin}` cannot be enabled: {reason}");
            Diagnostic::plain(message).path(path(plugin)).plugin(plugin)
        };
        let mut items = Vec::new();
        for (plugin, reason) in self.collisions() {
            items.push(refusal(&plugin, &reason));
        }
        for plugin in self.plugins.iter().filter(|plugin| self.fresh.contains(plugin.body.name.as_str())) {
            if !runs_legacy_tasks(self.settings) && has_legacy_tasks(session, plugin).await? {
                let refusal = refusal(&plugin.body.name, LEGACY_REFUSED);
                items.push(refusal.code(codes::LEGACY_TASKS));
            }
        }
        let registry = registry(&self.release.body, self.plugins.iter().map(|plugin| &plugin.body));
        let selection: Vec<&str> = self.components.iter().map(String::as_str).collect();
        for (plugin, finding) in registry.enable_conflicts(&selection, &self.fresh) {
            let reason = conflict_diagnostic(&registry, &finding, "");
            items.push(Diagnostic { kind: reason.kind, ..refusal(&plugin, &reason.message) });
        }
        Ok(items)
    }

    /// Returns roles, volumes and network roles that two plugins define.
    fn collisions(&self) -> Vec<(String, String)> {
        let body = &self.release.body;
        let network_roles = body.extra.get("network_roles_metadata").and_then(Json::as_array);
        let parts = ReleaseMetadata {
            roles: &body.roles_metadata,
            volumes: &body.volumes_metadata,
            network_roles: network_roles.map_or(&[], Vec::as_slice),
        };
        let plugins: Vec<_> = self.plugins.iter().map(|plugin| &plugin.body).collect();
        let collisions = merge_contributions(parts, &plugins).err().unwrap_or_default();
        let reason = |collision: &Collision| {
            let owners: Vec<&str> = collision.owners.iter().map(String::as_str).collect();
            let kind = collision.kind.replace('_', " ");
            self.reason(&format!("the {kind} `{}`", collision.name), &owners)
        };
        collisions.iter().filter_map(reason).collect()
    }

    /// Returns the newly enabled plugin to report, and the reason; `None` if all owners were enabled before.
    fn reason(&self, what: &str, owners: &[&str]) -> Option<(String, String)> {
        let plugin = owners.iter().rev().find(|owner| self.fresh.contains(*owner))?;
        let others: Vec<String> = owners
            .iter()
            .filter(|owner| owner != &plugin)
            .map(
                |owner| {
                    if *owner == "release" { "the release".to_owned() } else { format!("plugin `{owner}`") }
                },
            )
            .collect();
        Some(((*plugin).to_owned(), format!("{what} is also in {}", others.join(" and "))))
    }
}
