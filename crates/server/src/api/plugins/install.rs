//! Packages become plugins: a new record, or a newer version of one that is there.

use std::fs::File;
use std::io;

use axum::extract::State;
use serde_json::json;
use stoker_manifest::Severity;
use stoker_manifest::graph::GraphBody;
use stoker_model::{Change, GraphType, Json, JsonMap, NewPlugin, Owner, Plugin, PluginId};
use stoker_packages::{Limits, PluginsRoot, Unpacked, check_folder, repositories_without_index};
use stoker_registry::package::{CheckOptions, Checked, Package, line_of};
use stoker_store::{List, Writing};
use utoipa::ToSchema;
use stoker_services::plugins::files::{archive_refused, aside, disk_failed, keep, package_refused};
use stoker_services::plugins::conflicts::{Pairing, oddities, require_none};
use stoker_services::metadata::holder::require_unused;
use stoker_services::plugins::links::link_plugin;

use super::taken;
use super::view::{PluginView, show};
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::error::{ApiError, ApiResult};
use super::upload::Upload;
use crate::state::App;

/// An archive as `stoker plugin build` makes it.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "documentation of the body, which is kept on disk")]
pub(super) struct ArchiveBody(Vec<u8>);

/// Install a package
///
/// The body is an archive as `stoker plugin build` makes it. Its sums are verified, its files are checked and unpacked
/// below the root of plugins. From package version 2 on a package takes the place of an installed one of the same name
/// and the same first two numbers of the version, and keeps its id. The answer is the plugin, and `warnings`.
#[utoipa::path(
    post, path = "/api/v1/plugins/upload",
    request_body(content = ArchiveBody, content_type = "application/octet-stream"),
    responses((status = 200, body = PluginView), (status = 201, body = PluginView))
)]
pub(super) async fn plugin_upload(
    State(app): State<App>,
    login: Authenticated,
    Upload(archive): Upload,
) -> ApiResult<Answer<JsonMap>> {
    let Some(archive) = archive else {
        return Err(ApiError::bad_request("the body is empty; send an archive"));
    };
    let changing = app.services.packages.change().await;
    let root = changing.root.clone();
    let (unpacked, checked, unindexed) = aside(move || read_archive(&root, archive)).await??;
    let (package, mut warnings) = sound(checked)?;
    warnings.extend(unindexed.iter().map(|path| {
        format!("{path}: there are packages and no index, so that nodes cannot use them (`stoker plugin build` makes one)")
    }));
    warnings.extend(oddities(&package.plugin));
    let mut writing = app.change(&login).await?;
    let installed = Installed::read(&mut writing).await?;
    let folder = package.folder_name();
    let registered = installed.register(&mut writing, &package, &folder).await?;
    installed.require_no_conflicts(&mut writing).await?;
    let placed = changing.root.put(unpacked, &folder).map_err(disk_failed)?;
    writing.commit(registered.change()).await?;
    keep(placed).await?;
    let is_new = registered.is_new;
    let generation = registered.plugin.generation;
    let mut shown = show(registered.plugin);
    shown.insert("warnings".to_owned(), Json::from(warnings));
    let answer = if is_new { Answer::created(shown) } else { Answer::ok(shown) };
    Ok(answer.version(generation))
}

/// With the paths of repositories that package managers cannot use.
fn read_archive(root: &PluginsRoot, archive: File) -> ApiResult<(Unpacked, Checked, Vec<String>)> {
    let unpacked = root.receive(archive, &Limits::default()).map_err(archive_refused)?;
    // Names that could not be read again were refused while unpacking, so this is about the disk.
    let found = check_folder(unpacked.folder(), CheckOptions::default());
    let found = found.map_err(|error| disk_failed(io::Error::other(error)))?;
    let plugin = found.checked.package.as_ref().map(|package| &package.plugin);
    let unindexed =
        plugin.map(|plugin| repositories_without_index(unpacked.folder(), plugin, &found.tree.paths));
    Ok((unpacked, found.checked, unindexed.unwrap_or_default()))
}

/// The package and its warnings, or everything that is wrong with it.
fn sound(checked: Checked) -> ApiResult<(Package, Vec<String>)> {
    let of = |severity: Severity| checked.problems.iter().filter(move |problem| problem.severity == severity);
    match checked.package {
        Some(package) => Ok((package, of(Severity::Warning).map(ToString::to_string).collect())),
        None => Err(package_refused(of(Severity::Error).map(|problem| ("", problem))).into()),
    }
}

/// What is installed, as it was before anything changed.
pub(super) struct Installed {
    pub(super) plugins: Vec<Plugin>,
}

/// What became of a package.
pub(super) struct Registered {
    pub(super) plugin: Plugin,
    pub(super) is_new: bool,
}

impl Installed {
    pub(super) async fn read(writing: &mut Writing) -> ApiResult<Self> {
        Ok(Self { plugins: writing.plugin_list(&List::default()).await?.items })
    }

    /// Makes a record of a package, or gives it to the one whose place it takes.
    pub(super) async fn register(
        &self,
        writing: &mut Writing,
        package: &Package,
        folder: &str,
    ) -> ApiResult<Registered> {
        let new = &package.plugin;
        let is_same = |plugin: &&Plugin| plugin.body.name == new.name && plugin.body.version == new.version;
        if let Some(same) = self.plugins.iter().find(is_same) {
            return Err(taken(writing, stoker_store::StoreError::Taken { what: "plugin" }, &same.body).await);
        }
        let replaced = self.plugins.iter().find(|plugin| replaces(new, &plugin.body));
        let registered = match replaced {
            Some(old) => Registered { plugin: update(writing, old, package).await?, is_new: false },
            None => Registered { plugin: create(writing, package).await?, is_new: true },
        };
        writing.plugin_folder_set(registered.plugin.id, folder).await?;
        Ok(registered)
    }

    /// Refuses when what is stored now is at odds with itself, and was not before.
    pub(super) async fn require_no_conflicts(&self, writing: &mut Writing) -> ApiResult<()> {
        let after = writing.plugin_list(&List::default()).await?.items;
        let releases = writing.release_list(&List::default()).await?.items;
        let (before, after) = (bodies(&self.plugins), bodies(&after));
        let pairings = releases.iter().map(|release| Pairing {
            before: Some((&release.body, &before)),
            after: (&release.body, &after),
        });
        Ok(require_none(pairings)?)
    }
}

fn bodies(plugins: &[Plugin]) -> Vec<&NewPlugin> {
    plugins.iter().map(|plugin| &plugin.body).collect()
}

impl Registered {
    fn change(&self) -> Change {
        let body = &self.plugin.body;
        let detail = json!({"name": body.name, "version": body.version});
        let action = if self.is_new { "plugin.install" } else { "plugin.upgrade" };
        Change { action, target: format!("plugin {}", self.plugin.id), detail }
    }
}

/// Whether a package takes the place of a plugin: from package version 2 on, within one line of versions.
fn replaces(new: &NewPlugin, old: &NewPlugin) -> bool {
    new.name == old.name && line_of(new).is_some_and(|line| line_of(old) == Some(line))
}

pub(super) async fn create(writing: &mut Writing, package: &Package) -> ApiResult<Plugin> {
    let plugin = writing.plugin_create(&package.plugin).await?;
    write_graph(writing, plugin.id, package).await?;
    link_plugin(writing, &plugin).await?;
    Ok(plugin)
}

/// Lays a package over a plugin that is there. Its name stays, and roles that nodes have.
pub(super) async fn update(writing: &mut Writing, old: &Plugin, package: &Package) -> ApiResult<Plugin> {
    let new = &package.plugin;
    if new.name != old.body.name {
        let message =
            format!("the plugin is called `{}`, not `{}`; that cannot change", old.body.name, new.name);
        return Err(ApiError::bad_request(message));
    }
    let gone = old.body.roles_metadata.keys().map(String::as_str);
    let gone: Vec<&str> = gone.filter(|role| !new.roles_metadata.contains_key(*role)).collect();
    let clusters = writing.plugin_clusters(old.id).await?;
    require_unused(writing, &clusters, &gone).await?;
    let plugin = if old.body == *new {
        old.clone()
    } else {
        match writing.plugin_update(&Plugin { body: new.clone(), ..old.clone() }).await {
            Ok(plugin) => plugin,
            Err(error) => return Err(taken(writing, error, new).await),
        }
    };
    write_graph(writing, plugin.id, package).await?;
    link_plugin(writing, &plugin).await?;
    Ok(plugin)
}

/// The default graph is what the package says; graphs of other types are somebody else's.
async fn write_graph(writing: &mut Writing, id: PluginId, package: &Package) -> ApiResult<()> {
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
