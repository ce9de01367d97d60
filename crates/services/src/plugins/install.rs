//! Package installation: creates a plugin, or upgrades an installed plugin.

use std::fs::File;
use std::io;

use serde_json::json;
use stoker_diagnostics::Severity;
use stoker_manifest::graph::GraphBody;
use stoker_model::{Actor, AuditChange, GraphType, NewPlugin, Owner, Plugin, PluginId};
use stoker_packages::{
    ArchiveLimits, PluginsRoot, UnpackedPackage, check_folder, repositories_without_index,
};
use stoker_registry::package::{CheckResult, Package, PackageCheckOptions, version_line};
use stoker_store::WriteTransaction;

use super::conflicts::component_warnings;
use super::enabling::LegacyTasksGuard;
use super::files::{invalid_archive_error, invalid_package_error, io_error, keep, spawn_blocking_io};
use super::links::link_plugin;
use super::records::{
    Installed, PluginError, PluginResult, Plugins, duplicate_error, is_same_version, require_roles_kept,
};
use crate::error::{ServiceError, ServiceResult};

/// Result of installing a package.
#[derive(Debug)]
pub struct Installation {
    pub plugin: Plugin,
    /// Whether the plugin is new; otherwise it was upgraded.
    pub is_new: bool,
    pub warnings: Vec<String>,
}

impl Plugins {
    /// Verifies the checksums of an archive, validates its files and unpacks them below the plugin root. From package
    /// version 2 on, a package upgrades an installed plugin of the same name whose version has the same first two
    /// components.
    pub async fn install(&self, actor: &Actor, archive: File) -> PluginResult<Installation> {
        let changing = self.packages.change().await;
        let root = changing.root.clone();
        let (unpacked, checked, unindexed) =
            spawn_blocking_io(move || read_archive(&root, archive)).await??;
        let (package, mut warnings) = require_valid(checked)?;
        warnings.extend(unindexed.iter().map(|path| {
            format!("{path}: packages without an index, which nodes cannot use; build the package with `stoker plugin build` to create one")
        }));
        warnings.extend(component_warnings(&package.plugin));
        let mut writing = self.change(actor).await?;
        let installed = Installed::read(&mut writing).await?;
        let folder = package.folder_name();
        let (plugin, is_new) = register(&installed, &mut writing, &package, &folder).await?;
        installed.require_no_conflicts(&mut writing).await?;
        let root = changing.root.clone();
        // Only renames: the package was unpacked on the same file system before the transaction began.
        let placed = spawn_blocking_io(move || root.install(unpacked, &folder)).await?.map_err(io_error)?;
        writing.commit(describe(&plugin, is_new)).await?;
        keep(placed).await?;
        Ok(Installation { plugin, is_new, warnings })
    }
}

/// Unpacks and validates an archive. Also returns the repositories without an index, which package managers
/// cannot use.
fn read_archive(
    root: &PluginsRoot,
    archive: File,
) -> ServiceResult<(UnpackedPackage, CheckResult, Vec<String>)> {
    let unpacked = root.unpack(archive, &ArchiveLimits::default()).map_err(invalid_archive_error)?;
    // Unreadable names were rejected while unpacking, so an error here is an I/O error.
    let folder = check_folder(unpacked.folder(), PackageCheckOptions::default());
    let folder = folder.map_err(|error| io_error(io::Error::other(error)))?;
    let plugin = folder.result.package.as_ref().map(|package| &package.plugin);
    let unindexed =
        plugin.map(|plugin| repositories_without_index(unpacked.folder(), plugin, &folder.tree.paths));
    Ok((unpacked, folder.result, unindexed.unwrap_or_default()))
}

/// Returns the package and its warnings, or all problems as one error.
fn require_valid(checked: CheckResult) -> ServiceResult<(Package, Vec<String>)> {
    let with_severity =
        |severity: Severity| checked.problems.iter().filter(move |problem| problem.severity == severity);
    match checked.package {
        Some(package) => Ok((package, with_severity(Severity::Warning).map(ToString::to_string).collect())),
        None => Err(invalid_package_error(with_severity(Severity::Error).map(|problem| ("", problem)))),
    }
}

/// Creates a plugin for the package, or upgrades the plugin that the package replaces. Returns whether it is new.
async fn register(
    installed: &Installed,
    writing: &mut WriteTransaction,
    package: &Package,
    folder: &str,
) -> PluginResult<(Plugin, bool)> {
    let new = &package.plugin;
    if let Some(same) = installed.plugins.iter().find(|plugin| is_same_version(plugin, new)) {
        return Err(PluginError::Exists(Box::new(same.clone())));
    }
    let replaced = installed.plugins.iter().find(|plugin| replaces(new, &plugin.body));
    let plugin = match replaced {
        Some(old) => upgrade(writing, old, package).await?,
        None => create(writing, package).await?,
    };
    writing.plugin_folder_set(plugin.id, folder).await?;
    Ok((plugin, replaced.is_none()))
}

fn describe(plugin: &Plugin, is_new: bool) -> AuditChange {
    let detail = json!({"name": plugin.body.name, "version": plugin.body.version});
    let action = if is_new { "plugin.install" } else { "plugin.upgrade" };
    AuditChange { action, target: format!("plugin {}", plugin.id), detail }
}

/// Reports whether a package upgrades a plugin: from package version 2 on, if the first two components of the
/// version are equal.
fn replaces(new: &NewPlugin, old: &NewPlugin) -> bool {
    new.name == old.name && version_line(new).is_some_and(|line| version_line(old) == Some(line))
}

pub(super) async fn create(writing: &mut WriteTransaction, package: &Package) -> ServiceResult<Plugin> {
    let plugin = writing.plugin_create(&package.plugin).await?;
    write_graph(writing, plugin.id, package).await?;
    link_plugin(writing, &plugin).await?;
    Ok(plugin)
}

/// Upgrades an existing plugin to a package. The name must not change, and roles that nodes have must not be
/// removed.
pub(super) async fn upgrade(
    writing: &mut WriteTransaction,
    old: &Plugin,
    package: &Package,
) -> PluginResult<Plugin> {
    let new = &package.plugin;
    if new.name != old.body.name {
        let message = format!("cannot rename plugin `{}` to `{}`", old.body.name, new.name);
        return Err(ServiceError::invalid(message).into());
    }
    require_roles_kept(writing, old, &new.roles_metadata).await?;
    let guard = LegacyTasksGuard::before(writing, Owner::Plugin(old.id)).await?;
    let plugin = if old.body == *new {
        old.clone()
    } else {
        match writing.plugin_update(&Plugin { body: new.clone(), ..old.clone() }).await {
            Ok(plugin) => plugin,
            Err(error) => return Err(duplicate_error(writing, error, new).await),
        }
    };
    write_graph(writing, plugin.id, package).await?;
    guard.check(writing).await?;
    link_plugin(writing, &plugin).await?;
    Ok(plugin)
}

/// Replaces the default graph with that of the package. Graphs of other types do not belong to packages.
async fn write_graph(writing: &mut WriteTransaction, id: PluginId, package: &Package) -> ServiceResult<()> {
    let (owner, graph_type) = (Owner::Plugin(id), GraphType::default());
    let tasks = package.graphs.iter().find(|(known, _)| *known == graph_type);
    let tasks = tasks.map_or(&[][..], |(_, tasks)| tasks);
    if let Some(graph) = writing.graph_find(owner, &graph_type).await? {
        writing.graph_update(graph.id, graph.generation, &graph.metadata, Some(tasks)).await?;
    } else {
        let (metadata, _) = GraphBody::default().into_parts();
        writing.graph_create(owner, &graph_type, &metadata, tasks).await?;
    }
    Ok(())
}
