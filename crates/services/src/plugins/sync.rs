//! Synchronization of plugins with their files below the plugin root.

use std::collections::BTreeSet;

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_model::{Actor, AuditChange, ErrorChain, Plugin, PluginId};
use stoker_packages::{PluginsRoot, check_folder};
use stoker_registry::package::{Package, PackageCheckOptions, codes};
use stoker_store::{Session, WriteTransaction};

use super::files::{invalid_package_error, io_error, spawn_blocking_io};
use super::install::{create, upgrade};
use super::records::{Installed, PluginResult, Plugins, find, is_same_version};
use crate::error::{ServiceError, ServiceResult};

impl Plugins {
    /// With `ids`, reads the files of these plugins again. Otherwise reads all directories below the plugin
    /// root: new directories become plugins, and plugins whose files were removed are deleted unless they are
    /// enabled in a cluster. Atomic. Returns warnings.
    pub async fn sync(&self, actor: &Actor, ids: Option<Vec<PluginId>>) -> PluginResult<Vec<String>> {
        let changing = self.packages.change().await;
        let plan = SyncPlan::find(&mut self.store.read().await?, &changing.root, ids).await?;
        let root = changing.root.clone();
        let folders = plan.folders.clone();
        let (packages, warnings) = spawn_blocking_io(move || read_packages(&root, &folders)).await??;
        let mut writing = self.change(actor).await?;
        let installed = Installed::read(&mut writing).await?;
        let result = plan.execute(&mut writing, &installed, &packages).await?;
        installed.require_no_conflicts(&mut writing).await?;
        let detail = json!({"created": result.created, "updated": result.updated, "deleted": result.deleted});
        writing.commit(AuditChange { action: "plugin.sync", target: "plugins".to_owned(), detail }).await?;
        Ok(warnings)
    }
}

/// Directories to read and plugins to delete.
struct SyncPlan {
    /// Directories to read, sorted by name.
    folders: Vec<String>,
    /// Plugins whose files were removed.
    removed: Vec<PluginId>,
}

#[derive(Default)]
struct SyncResult {
    created: Vec<i64>,
    updated: Vec<i64>,
    deleted: Vec<i64>,
}

impl SyncPlan {
    async fn find(
        session: &mut Session,
        root: &PluginsRoot,
        ids: Option<Vec<PluginId>>,
    ) -> ServiceResult<Self> {
        let folder_ids = session.plugin_folders().await?;
        let Some(ids) = ids else {
            let root = root.clone();
            let folders = spawn_blocking_io(move || root.names()).await?.map_err(io_error)?;
            let present: BTreeSet<&String> = folders.iter().collect();
            let removed = folder_ids
                .iter()
                .filter(|(folder, _)| !present.contains(folder))
                .map(|(_, id)| *id)
                .collect();
            return Ok(Self { folders, removed });
        };
        let mut folders = BTreeSet::new();
        for id in ids {
            let plugin = find(session, id).await?;
            let folder =
                folder_ids.iter().find(|(_, folder_id)| **folder_id == id).map(|(folder, _)| folder.clone());
            folders.insert(folder.ok_or_else(|| {
                let (name, version) = (&plugin.body.name, &plugin.body.version);
                ServiceError::invalid(format!("plugin `{name}` {version} was not installed from files"))
            })?);
        }
        Ok(Self { folders: folders.into_iter().collect(), removed: Vec::new() })
    }

    async fn execute(
        &self,
        writing: &mut WriteTransaction,
        installed: &Installed,
        packages: &[Package],
    ) -> PluginResult<SyncResult> {
        let mut result = SyncResult::default();
        let folder_ids = writing.plugin_folders().await?;
        for (folder, package) in self.folders.iter().zip(packages) {
            let is_same = |plugin: &&Plugin| is_same_version(plugin, &package.plugin);
            let by_folder = |plugin: &&Plugin| folder_ids.get(folder) == Some(&plugin.id);
            let plugins = &installed.plugins;
            let old = plugins.iter().find(by_folder).or_else(|| plugins.iter().find(is_same));
            require_own_folder(folder, package, old)?;
            let plugin = match old {
                Some(old) => upgrade(writing, old, package).await?,
                None => create(writing, package).await?,
            };
            writing.plugin_folder_set(plugin.id, folder).await?;
            let list = if old.is_some() { &mut result.updated } else { &mut result.created };
            list.push(plugin.id.0);
        }
        for id in &self.removed {
            let clusters = writing.plugin_clusters(*id).await?;
            if clusters.is_empty() {
                writing.plugin_delete(*id).await?;
                result.deleted.push(id.0);
            } else {
                tracing::warn!(
                    plugin = id.0,
                    "plugin files were removed, but the plugin is enabled in clusters; keeping it"
                );
            }
        }
        Ok(result)
    }
}

/// Requires the canonical directory name: otherwise two directories could contain the same plugin.
fn require_own_folder(folder: &str, package: &Package, old: Option<&Plugin>) -> ServiceResult<()> {
    let canonical = package.folder_name();
    let plugin = &package.plugin;
    if let Some(old) = old.filter(|old| old.body.name != plugin.name) {
        let message = format!("`{folder}`: cannot rename plugin `{}` to `{}`", old.body.name, plugin.name);
        return Err(ServiceError::invalid(message));
    }
    if canonical == folder {
        return Ok(());
    }
    let message = format!(
        "`{folder}` contains plugin `{}` {}; rename the directory to `{canonical}`",
        plugin.name, plugin.version
    );
    Err(ServiceError::invalid(message))
}

/// Reads the packages in these directories and their warnings, or returns the problems of all of them.
fn read_packages(root: &PluginsRoot, folders: &[String]) -> ServiceResult<(Vec<Package>, Vec<String>)> {
    let (mut packages, mut problems, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for folder in folders {
        // The check is not strict: a directory that an earlier version installed must remain readable.
        match check_folder(&root.folder(folder), PackageCheckOptions { strict_keys: false }) {
            Ok(folder_check) => {
                for problem in folder_check.result.problems {
                    if problem.is_error() {
                        problems.push((format!("{folder}/"), problem));
                    } else if [codes::YAML_SYNTAX, codes::PRODUCT_VERSION].contains(&&*problem.code) {
                        // Other warnings are not reported. The meaning of duplicate keys, and the releases of the plugin,
                        // differ from what the author expects.
                        warnings.push(format!("{folder}/{problem}"));
                    }
                }
                packages.extend(folder_check.result.package);
            }
            Err(error) => {
                tracing::warn!(folder, error = %ErrorChain(&error), "cannot read plugin files");
                let message = "cannot be read; see the server log";
                problems
                    .push((String::new(), Diagnostic::error(codes::FILE_MISSING, message).in_file(folder)));
            }
        }
    }
    if problems.is_empty() {
        return Ok((packages, warnings));
    }
    Err(invalid_package_error(problems.iter().map(|(folder, problem)| (&**folder, problem))))
}
