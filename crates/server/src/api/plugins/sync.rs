//! Files of plugins are read again.

use std::collections::BTreeSet;

use axum::extract::State;
use serde_json::json;
use stoker_manifest::Severity;
use stoker_manifest::reader::{identifier, list_of};
use stoker_model::{Change, Json, JsonMap, Plugin, PluginId};
use stoker_packages::{PluginsRoot, check_folder};
use stoker_registry::package::{CheckOptions, Package, PackageProblem, codes};
use stoker_store::{Session, Writing};
use utoipa::ToSchema;
use stoker_services::plugins::files::{aside, disk_failed, package_refused};

use super::install::{Installed, create, update};
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Which plugins to read again; all that are below the root if nothing is said.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct SyncBody {
    ids: Option<Vec<i64>>,
}

/// Read the files of installed plugins again
///
/// With `ids`, these. Without, everything below the root of plugins: what is new there becomes a plugin, and plugins whose
/// files are gone go too, unless they are enabled somewhere. All or nothing: what cannot be read is told as a whole. What is
/// written twice, and so does not mean what its author thinks, comes back as `warnings`.
#[utoipa::path(
    post, path = "/api/v1/plugins/sync", request_body = Option<SyncBody>,
    responses(
        (status = 200, body = Object),
        (status = 404, body = crate::http::error::Envelope, description = "One of them is not there")
    )
)]
pub(super) async fn plugin_sync(
    State(app): State<App>,
    login: Authenticated,
    document: Option<Document>,
) -> ApiResult<Answer<JsonMap>> {
    let ids = document.as_ref().map(read_ids).transpose()?.flatten();
    let changing = app.services.packages.change().await;
    let work = Work::find(&mut app.store.read().await?, &changing.root, ids).await?;
    let root = changing.root.clone();
    let folders = work.folders.clone();
    let (packages, warnings) = aside(move || read_packages(&root, &folders)).await??;
    let mut writing = app.change(&login).await?;
    let installed = Installed::read(&mut writing).await?;
    let done = work.carry_out(&mut writing, &installed, &packages).await?;
    installed.require_no_conflicts(&mut writing).await?;
    let detail = json!({"created": done.created, "updated": done.updated, "deleted": done.deleted});
    writing.commit(Change { action: "plugin.sync", target: "plugins".to_owned(), detail }).await?;
    let mut shown = JsonMap::new();
    if !warnings.is_empty() {
        shown.insert("warnings".to_owned(), Json::from(warnings));
    }
    Ok(Answer::ok(shown))
}

fn read_ids(document: &Document) -> ApiResult<Option<Vec<PluginId>>> {
    if document.json()?.is_null() {
        return Ok(None);
    }
    let ids = document.fields(|fields| Some(fields.optional("ids", list_of(identifier))))?;
    Ok(ids.map(|ids| ids.into_iter().map(PluginId).collect()))
}

/// What there is to do.
struct Work {
    /// Folders to read, in order.
    folders: Vec<String>,
    /// Plugins whose files are gone.
    vanished: Vec<PluginId>,
}

#[derive(Default)]
struct Done {
    created: Vec<i64>,
    updated: Vec<i64>,
    deleted: Vec<i64>,
}

impl Work {
    async fn find(session: &mut Session, root: &PluginsRoot, ids: Option<Vec<PluginId>>) -> ApiResult<Self> {
        let known = session.plugin_folders().await?;
        let Some(ids) = ids else {
            let root = root.clone();
            let folders = aside(move || root.names()).await?.map_err(disk_failed)?;
            let present: BTreeSet<&String> = folders.iter().collect();
            let vanished =
                known.iter().filter(|(folder, _)| !present.contains(folder)).map(|(_, id)| *id).collect();
            return Ok(Self { folders, vanished });
        };
        let mut folders = BTreeSet::new();
        for id in ids {
            let plugin = session.plugin_get(id).await?.ok_or_else(|| ApiError::not_found("Plugin"))?;
            let folder = known.iter().find(|(_, known)| **known == id).map(|(folder, _)| folder.clone());
            folders.insert(folder.ok_or_else(|| {
                let (name, version) = (&plugin.body.name, &plugin.body.version);
                ApiError::bad_request(format!("plugin `{name}` {version} was not installed from files"))
            })?);
        }
        Ok(Self { folders: folders.into_iter().collect(), vanished: Vec::new() })
    }

    async fn carry_out(
        &self,
        writing: &mut Writing,
        installed: &Installed,
        packages: &[Package],
    ) -> ApiResult<Done> {
        let mut done = Done::default();
        let known = writing.plugin_folders().await?;
        for (folder, package) in self.folders.iter().zip(packages) {
            let is_same = |plugin: &&Plugin| {
                let (old, new) = (&plugin.body, &package.plugin);
                old.name == new.name && old.version == new.version
            };
            let by_folder = |plugin: &&Plugin| known.get(folder) == Some(&plugin.id);
            let plugins = &installed.plugins;
            let old = plugins.iter().find(by_folder).or_else(|| plugins.iter().find(is_same));
            require_own_folder(folder, package, old)?;
            let plugin = match old {
                Some(old) => update(writing, old, package).await?,
                None => create(writing, package).await?,
            };
            writing.plugin_folder_set(plugin.id, folder).await?;
            let list = if old.is_some() { &mut done.updated } else { &mut done.created };
            list.push(plugin.id.0);
        }
        for id in &self.vanished {
            let clusters = writing.plugin_clusters(*id).await?;
            if clusters.is_empty() {
                writing.plugin_delete(*id).await?;
                done.deleted.push(id.0);
            } else {
                tracing::warn!(plugin = id.0, "files of a plugin are gone that is enabled in clusters");
            }
        }
        Ok(done)
    }
}

/// A folder is called after what is in it, or two folders could hold one plugin.
fn require_own_folder(folder: &str, package: &Package, old: Option<&Plugin>) -> ApiResult<()> {
    let own = package.folder_name();
    let plugin = &package.plugin;
    if let Some(old) = old.filter(|old| old.body.name != plugin.name) {
        let message = format!(
            "`{folder}`: the plugin is called `{}`, not `{}`; that cannot change",
            old.body.name, plugin.name
        );
        return Err(ApiError::bad_request(message));
    }
    if own == folder {
        return Ok(());
    }
    let message =
        format!("`{folder}` holds `{}` {}, which belongs into `{own}`", plugin.name, plugin.version);
    Err(ApiError::bad_request(message))
}

/// What is in these folders, and what is odd about it; or all problems of all of them.
fn read_packages(root: &PluginsRoot, folders: &[String]) -> ApiResult<(Vec<Package>, Vec<String>)> {
    let (mut packages, mut problems, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for folder in folders {
        // These were installed; what a laxer reader let in is not taken away.
        match check_folder(&root.folder(folder), CheckOptions { strict_keys: false }) {
            Ok(found) => {
                for problem in found.checked.problems {
                    match problem.severity {
                        Severity::Error => problems.push((format!("{folder}/"), problem)),
                        // What a key given twice means is not what its author thinks.
                        Severity::Warning if problem.code == codes::YAML_SYNTAX => {
                            warnings.push(format!("{folder}/{problem}"));
                        }
                        Severity::Warning => {}
                    }
                }
                packages.extend(found.checked.package);
            }
            Err(error) => {
                tracing::warn!(folder, error = %error, "files of a plugin cannot be read");
                let message = "cannot be read; the log of the server says why";
                problems.push((String::new(), PackageProblem::of_file(folder, codes::FILE_MISSING, message)));
            }
        }
    }
    if problems.is_empty() {
        return Ok((packages, warnings));
    }
    Err(package_refused(problems.iter().map(|(folder, problem)| (&**folder, problem))).into())
}
