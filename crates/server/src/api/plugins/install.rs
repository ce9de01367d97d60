//! Package installation: creates a plugin, or upgrades an installed one.

use std::fs::File;
use std::io;

use axum::extract::State;
use serde_json::json;
use stoker_diagnostics::Severity;
use stoker_manifest::graph::GraphBody;
use stoker_model::{AuditChange, GraphType, Json, JsonMap, NewPlugin, Owner, Plugin, PluginId};
use stoker_packages::{ArchiveLimits, PluginsRoot, UnpackedPackage, check_folder, repositories_without_index};
use stoker_registry::package::{PackageCheckOptions, CheckResult, Package, version_line};
use stoker_services::metadata::holder::require_unused;
use stoker_services::plugins::conflicts::{Pairing, plugin_warnings, require_no_conflicts};
use stoker_services::plugins::files::{invalid_archive_error, spawn_blocking_io, io_error, keep, invalid_package_error};
use stoker_services::plugins::links::link_plugin;
use stoker_store::{List, WriteTransaction};
use utoipa::ToSchema;

use super::duplicate_error;
use super::upload::Upload;
use super::view::{PluginView, show};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Archive that `stoker plugin build` creates.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "documents the request body, which is stored in a file")]
pub(super) struct ArchiveBody(Vec<u8>);

/// Install a package
///
/// The body is an archive that `stoker plugin build` creates. The server verifies its checksums, validates
/// its files and unpacks them below the plugin root. From package version 2 on, a package upgrades an
/// installed plugin of the same name whose version has the same first two components; the plugin keeps its
/// ID. Returns the plugin, with `warnings`.
#[utoipa::path(
    post, path = "/api/v1/plugins/upload",
    request_body(content = ArchiveBody, content_type = "application/octet-stream"),
    responses((status = 200, body = PluginView), (status = 201, body = PluginView))
)]
pub(super) async fn plugin_upload(
    State(app): State<App>,
    login: Authenticated,
    Upload(archive): Upload,
) -> ApiResult<ApiResponse<JsonMap>> {
    let Some(archive) = archive else {
        return Err(ApiError::bad_request("the body is empty: expected a package archive"));
    };
    let changing = app.services.packages.change().await;
    let root = changing.root.clone();
    let (unpacked, checked, unindexed) = spawn_blocking_io(move || read_archive(&root, archive)).await??;
    let (package, mut warnings) = require_valid(checked)?;
    warnings.extend(unindexed.iter().map(|path| {
        format!("{path}: packages without an index, which nodes cannot use; build the package with `stoker plugin build` to create one")
    }));
    warnings.extend(plugin_warnings(&package.plugin));
    let mut writing = app.change(&login).await?;
    let installed = Installed::read(&mut writing).await?;
    let folder = package.folder_name();
    let registered = installed.register(&mut writing, &package, &folder).await?;
    installed.require_no_conflicts(&mut writing).await?;
    let placed = changing.root.install(unpacked, &folder).map_err(io_error)?;
    writing.commit(registered.change()).await?;
    keep(placed).await?;
    let is_new = registered.is_new;
    let generation = registered.plugin.generation;
    let mut view = show(registered.plugin);
    view.insert("warnings".to_owned(), Json::from(warnings));
    let answer = if is_new { ApiResponse::created(view) } else { ApiResponse::ok(view) };
    Ok(answer.version(generation))
}

/// Unpacks and validates an archive. Also returns the repositories without an index, which package managers
/// cannot use.
fn read_archive(root: &PluginsRoot, archive: File) -> ApiResult<(UnpackedPackage, CheckResult, Vec<String>)> {
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
fn require_valid(checked: CheckResult) -> ApiResult<(Package, Vec<String>)> {
    let with_severity =
        |severity: Severity| checked.problems.iter().filter(move |problem| problem.severity == severity);
    match checked.package {
        Some(package) => Ok((package, with_severity(Severity::Warning).map(ToString::to_string).collect())),
        None => Err(invalid_package_error(with_severity(Severity::Error).map(|problem| ("", problem))).into()),
    }
}

/// Installed plugins before the change.
pub(super) struct Installed {
    pub(super) plugins: Vec<Plugin>,
}

/// Result of registering a package.
pub(super) struct Registered {
    pub(super) plugin: Plugin,
    pub(super) is_new: bool,
}

impl Installed {
    pub(super) async fn read(writing: &mut WriteTransaction) -> ApiResult<Self> {
        Ok(Self { plugins: writing.plugin_list(&List::default()).await?.items })
    }

    /// Creates a plugin for the package, or upgrades the plugin that the package replaces.
    pub(super) async fn register(
        &self,
        writing: &mut WriteTransaction,
        package: &Package,
        folder: &str,
    ) -> ApiResult<Registered> {
        let new = &package.plugin;
        let is_same = |plugin: &&Plugin| plugin.body.name == new.name && plugin.body.version == new.version;
        if let Some(same) = self.plugins.iter().find(is_same) {
            return Err(duplicate_error(
                writing,
                stoker_store::StoreError::AlreadyExists { what: "plugin" },
                &same.body,
            )
            .await);
        }
        let replaced = self.plugins.iter().find(|plugin| replaces(new, &plugin.body));
        let registered = match replaced {
            Some(old) => Registered { plugin: update(writing, old, package).await?, is_new: false },
            None => Registered { plugin: create(writing, package).await?, is_new: true },
        };
        writing.plugin_folder_set(registered.plugin.id, folder).await?;
        Ok(registered)
    }

    /// Rejects the change if it introduces component conflicts that did not exist before.
    pub(super) async fn require_no_conflicts(&self, writing: &mut WriteTransaction) -> ApiResult<()> {
        let after = writing.plugin_list(&List::default()).await?.items;
        let releases = writing.release_list(&List::default()).await?.items;
        let (before, after) = (bodies(&self.plugins), bodies(&after));
        let pairings = releases.iter().map(|release| Pairing {
            before: Some((&release.body, &before)),
            after: (&release.body, &after),
        });
        Ok(require_no_conflicts(pairings)?)
    }
}

fn bodies(plugins: &[Plugin]) -> Vec<&NewPlugin> {
    plugins.iter().map(|plugin| &plugin.body).collect()
}

impl Registered {
    fn change(&self) -> AuditChange {
        let body = &self.plugin.body;
        let detail = json!({"name": body.name, "version": body.version});
        let action = if self.is_new { "plugin.install" } else { "plugin.upgrade" };
        AuditChange { action, target: format!("plugin {}", self.plugin.id), detail }
    }
}

/// Whether a package upgrades a plugin: from package version 2 on, if the first two components of the version
/// are equal.
fn replaces(new: &NewPlugin, old: &NewPlugin) -> bool {
    new.name == old.name && version_line(new).is_some_and(|line| version_line(old) == Some(line))
}

pub(super) async fn create(writing: &mut WriteTransaction, package: &Package) -> ApiResult<Plugin> {
    let plugin = writing.plugin_create(&package.plugin).await?;
    write_graph(writing, plugin.id, package).await?;
    link_plugin(writing, &plugin).await?;
    Ok(plugin)
}

/// Upgrades an existing plugin to a package. The name must not change, and roles that nodes have must not be
/// removed.
pub(super) async fn update(writing: &mut WriteTransaction, old: &Plugin, package: &Package) -> ApiResult<Plugin> {
    let new = &package.plugin;
    if new.name != old.body.name {
        let message = format!("cannot rename plugin `{}` to `{}`", old.body.name, new.name);
        return Err(ApiError::bad_request(message));
    }
    let removed_roles = old.body.roles_metadata.keys().map(String::as_str);
    let removed_roles: Vec<&str> =
        removed_roles.filter(|role| !new.roles_metadata.contains_key(*role)).collect();
    let clusters = writing.plugin_clusters(old.id).await?;
    require_unused(writing, &clusters, &removed_roles).await?;
    let plugin = if old.body == *new {
        old.clone()
    } else {
        match writing.plugin_update(&Plugin { body: new.clone(), ..old.clone() }).await {
            Ok(plugin) => plugin,
            Err(error) => return Err(duplicate_error(writing, error, new).await),
        }
    };
    write_graph(writing, plugin.id, package).await?;
    link_plugin(writing, &plugin).await?;
    Ok(plugin)
}

/// Replaces the default graph with that of the package. Graphs of other types do not belong to packages.
async fn write_graph(writing: &mut WriteTransaction, id: PluginId, package: &Package) -> ApiResult<()> {
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
