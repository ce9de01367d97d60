//! Creation, update and deletion of plugins by a client. [`install`](super::install) and [`sync`](super::sync) change
//! plugins by their files.

use serde_json::json;
use stoker_api_types::plugins::PluginBody;
use stoker_model::{Actor, AuditChange, Json, JsonMap, NewPlugin, Owner, Plugin, PluginId};
use stoker_store::{List, Session, Store, StoreError, WriteTransaction};

use super::conflicts::{Pairing, require_no_conflicts};
use super::enabling::LegacyTasksGuard;
use super::files::{Packages, io_error, keep, spawn_blocking_io};
use super::links::link_plugin;
use crate::clock::Clock;
use crate::error::{ServiceError, ServiceResult};
use crate::metadata::embedded_graphs::EmbeddedGraphs;
use crate::metadata::holder::require_unused;
use crate::precondition::Precondition;

/// Use cases that change plugins. Cloning is cheap.
#[derive(Clone)]
pub struct Plugins {
    pub store: Store,
    pub clock: Clock,
    pub packages: Packages,
}

/// Error while creating or updating a plugin.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("plugin `{}` {} already exists", .0.body.name, .0.body.version)]
    Exists(Box<Plugin>),
    #[error(transparent)]
    Service(#[from] ServiceError),
}

pub type PluginResult<T> = Result<T, PluginError>;

impl From<StoreError> for PluginError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}

/// Applies an update to a plugin; absent fields keep their values. Returns the graphs, which the caller must store.
pub fn plugin_apply(update: PluginBody, plugin: &mut NewPlugin) -> EmbeddedGraphs {
    replace(&mut plugin.name, update.name);
    replace(&mut plugin.title, update.title);
    replace(&mut plugin.version, update.version);
    replace(&mut plugin.package_version, update.package_version);
    update.description.apply(&mut plugin.description);
    update.homepage.apply(&mut plugin.homepage);
    replace(&mut plugin.is_hotpluggable, update.is_hotpluggable);
    replace(&mut plugin.fuel_version, update.fuel_version);
    replace(&mut plugin.groups, update.groups);
    replace(&mut plugin.authors, update.authors);
    replace(&mut plugin.licenses, update.licenses);
    replace(&mut plugin.releases, update.releases);
    replace(&mut plugin.attributes_metadata, update.attributes_metadata);
    replace(&mut plugin.roles_metadata, update.roles_metadata);
    replace(&mut plugin.tags_metadata, update.tags_metadata);
    replace(&mut plugin.volumes_metadata, update.volumes_metadata);
    replace(&mut plugin.components_metadata, update.components_metadata);
    replace(&mut plugin.tasks, update.tasks);
    // A plugin has no fields for these documents of packages.
    let documents = [
        ("provides", update.provides.map(Json::Array)),
        ("wizard_metadata", update.wizard_metadata.map(Json::Object)),
    ];
    plugin.extra.extend(documents.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    plugin.extra.extend(update.own);
    EmbeddedGraphs::new(update.graphs, update.deployment_tasks)
}

fn replace<T>(old: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *old = new;
    }
}

impl Plugins {
    pub async fn create(
        &self,
        actor: &Actor,
        new: &NewPlugin,
        graphs: EmbeddedGraphs,
    ) -> PluginResult<Plugin> {
        let mut writing = self.change(actor).await?;
        let installed = Installed::read(&mut writing).await?;
        let plugin = match writing.plugin_create(new).await {
            Ok(plugin) => plugin,
            Err(error) => return Err(duplicate_error(&mut writing, error, new).await),
        };
        let types = graphs.types();
        graphs.create(&mut writing, Owner::Plugin(plugin.id)).await?;
        link_plugin(&mut writing, &plugin).await?;
        installed.require_no_conflicts(&mut writing).await?;
        writing.commit(describe("plugin.create", &plugin, &types)).await?;
        Ok(plugin)
    }

    /// Updates a plugin. The name cannot be changed, and roles that nodes have cannot be removed.
    pub async fn update(
        &self,
        actor: &Actor,
        id: PluginId,
        precondition: &Precondition,
        update: PluginBody,
    ) -> PluginResult<Plugin> {
        let mut writing = self.change(actor).await?;
        let mut plugin = find(&mut writing, id).await?;
        precondition.check(plugin.generation)?;
        if update.name.as_ref().is_some_and(|name| *name != plugin.body.name) {
            let message = format!("cannot rename plugin `{}`", plugin.body.name);
            return Err(ServiceError::invalid(message).into());
        }
        if let Some(roles) = &update.roles_metadata {
            require_roles_kept(&mut writing, &plugin, roles).await?;
        }
        let installed = Installed::read(&mut writing).await?;
        let guard = LegacyTasksGuard::before(&mut writing, Owner::Plugin(id)).await?;
        let graphs = plugin_apply(update, &mut plugin.body);
        let plugin = match writing.plugin_update(&plugin).await {
            Ok(plugin) => plugin,
            Err(error) => return Err(duplicate_error(&mut writing, error, &plugin.body).await),
        };
        let types = graphs.types();
        graphs.apply(&mut writing, Owner::Plugin(plugin.id)).await?;
        guard.check(&mut writing).await?;
        installed.require_no_conflicts(&mut writing).await?;
        writing.commit(describe("plugin.update", &plugin, &types)).await?;
        Ok(plugin)
    }

    /// Deletes a plugin with its graphs and files, unless it is enabled in a cluster.
    pub async fn delete(
        &self,
        actor: &Actor,
        id: PluginId,
        precondition: &Precondition,
    ) -> ServiceResult<()> {
        let changing = self.packages.change().await;
        let mut writing = self.change(actor).await?;
        let plugin = find(&mut writing, id).await?;
        precondition.check(plugin.generation)?;
        let clusters = writing.plugin_clusters(plugin.id).await?;
        if !clusters.is_empty() {
            let ids: Vec<String> = clusters.iter().map(ToString::to_string).collect();
            let message = format!("cannot delete a plugin that is enabled in clusters: {}", ids.join(", "));
            return Err(ServiceError::conflict(message));
        }
        let folders = writing.plugin_folders().await?;
        writing.plugin_delete(plugin.id).await?;
        let folder = folders.into_iter().find(|(_, id)| *id == plugin.id);
        let root = changing.root.clone();
        let remove = move || folder.map(|(folder, _)| root.remove(&folder)).transpose();
        let removed = spawn_blocking_io(remove).await?.map_err(io_error)?;
        writing.commit(describe("plugin.delete", &plugin, &[])).await?;
        match removed {
            Some(removed) => keep(removed).await,
            None => Ok(()),
        }
    }

    pub(super) async fn change(&self, actor: &Actor) -> Result<WriteTransaction, StoreError> {
        self.store.begin_write(actor, self.clock.now()).await
    }
}

pub(super) async fn find(session: &mut Session, id: PluginId) -> ServiceResult<Plugin> {
    session.plugin_get(id).await?.ok_or_else(|| ServiceError::not_found("Plugin"))
}

/// Rejects the removal of roles that nodes have.
pub(super) async fn require_roles_kept(
    writing: &mut WriteTransaction,
    plugin: &Plugin,
    new: &JsonMap,
) -> ServiceResult<()> {
    let old = plugin.body.roles_metadata.keys().map(String::as_str);
    let removed_roles: Vec<&str> = old.filter(|role| !new.contains_key(*role)).collect();
    let clusters = writing.plugin_clusters(plugin.id).await?;
    require_unused(writing, &clusters, &removed_roles).await
}

/// Converts a violated unique constraint into [`PluginError::Exists`].
pub(super) async fn duplicate_error(
    session: &mut Session,
    error: StoreError,
    new: &NewPlugin,
) -> PluginError {
    if !matches!(error, StoreError::AlreadyExists { .. }) {
        return error.into();
    }
    let plugins = match session.plugin_list(&List::default()).await {
        Ok(plugins) => plugins.items,
        Err(error) => return error.into(),
    };
    match plugins.into_iter().find(|plugin| is_same_version(plugin, new)) {
        Some(existing) => PluginError::Exists(Box::new(existing)),
        None => error.into(),
    }
}

pub(super) fn is_same_version(plugin: &Plugin, new: &NewPlugin) -> bool {
    plugin.body.name == new.name && plugin.body.version == new.version
}

/// Installed plugins before the change.
pub(super) struct Installed {
    pub(super) plugins: Vec<Plugin>,
}

impl Installed {
    pub(super) async fn read(writing: &mut WriteTransaction) -> ServiceResult<Self> {
        Ok(Self { plugins: writing.plugin_list(&List::default()).await?.items })
    }

    /// Rejects the change if it introduces component conflicts that did not exist before.
    pub(super) async fn require_no_conflicts(&self, writing: &mut WriteTransaction) -> ServiceResult<()> {
        let after = writing.plugin_list(&List::default()).await?.items;
        let releases = writing.release_list(&List::default()).await?.items;
        let (before, after) = (bodies(&self.plugins), bodies(&after));
        let pairings = releases.iter().map(|release| Pairing {
            before: Some((&release.body, &before)),
            after: (&release.body, &after),
        });
        require_no_conflicts(pairings)
    }
}

fn bodies(plugins: &[Plugin]) -> Vec<&NewPlugin> {
    plugins.iter().map(|plugin| &plugin.body).collect()
}

fn describe(action: &'static str, plugin: &Plugin, graph_types: &[String]) -> AuditChange {
    let body = &plugin.body;
    let detail = json!({"name": body.name, "version": body.version, "graphs": graph_types});
    AuditChange { action, target: format!("plugin {}", plugin.id), detail }
}
