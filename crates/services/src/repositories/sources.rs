//! Package sources: the repositories that nodes of a cluster use, and their addresses.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use stoker_model::{Cluster, DocumentId, Json, JsonMap, Plugin, PluginId, Release};
use stoker_packages::{Repository, index_digest};
use stoker_registry::sources::{
    PASSWORD_PLACEHOLDER, RepositoryKind, STATE_KEY, TASK_SUFFIX, USER_PLACEHOLDER,
};
use stoker_settings::Server;
use stoker_store::Session;

use crate::error::ServiceResult;

use super::access::PackageAccess;
use crate::plugins::files::{Packages, spawn_blocking_io};

/// Information that nodes need to read plugin packages from this server.
#[derive(Clone)]
pub struct Repositories {
    pub access: Arc<PackageAccess>,
    pub packages: Packages,
    pub settings: Arc<Server>,
    pub is_encrypted: bool,
    /// PEM certificate that package managers have to trust, if the server uses the internal certificate authority.
    pub authority: Option<Arc<str>>,
}

impl Repositories {
    /// Returns the address that nodes use: the configured address, or the address that the server listens on.
    fn base_address(&self) -> String {
        if let Some(url) = &self.settings.packages_url {
            return url.trim_end_matches('/').to_owned();
        }
        let scheme = if self.is_encrypted { "https" } else { "http" };
        let listen = self.access.bound().unwrap_or(self.settings.listen);
        format!("{scheme}://{}", reachable(listen))
    }
}

/// Repository of a plugin on this server.
pub struct SourceHere {
    pub kind: RepositoryKind,
    /// Address for nodes, without a trailing slash.
    pub address: String,
    /// Plugin directory and content digest, which identify this version of the repository.
    pub digest: String,
}

/// Returns the repositories of plugins that were installed from a package, into one of `folders`, fit the cluster, and have
/// an index.
pub async fn sources_of(
    repositories: &Repositories,
    folders: &BTreeMap<String, PluginId>,
    cluster: &Cluster,
    release: &Release,
    plugins: impl Iterator<Item = &Plugin>,
) -> ServiceResult<HashMap<PluginId, SourceHere>> {
    let target = release.body.compatibility_target(Some(&cluster.mode));
    let mut repositories_here = Vec::new();
    for plugin in plugins {
        let Some(repository) =
            plugin.body.repository_path(target).and_then(|(os, path)| Repository::new(os, path))
        else {
            continue;
        };
        let folder_of_plugin = folders.iter().find(|(_, id)| **id == plugin.id);
        repositories_here.extend(folder_of_plugin.map(|(folder, _)| (plugin.id, folder.clone(), repository)));
    }
    if repositories_here.is_empty() {
        return Ok(HashMap::new());
    }
    let (base, root) = (repositories.base_address(), repositories.packages.root().clone());
    let node_root = repositories.settings.node_root.clone();
    spawn_blocking_io(move || {
        let here = |(id, folder, repository): (PluginId, String, Repository)| {
            let index = index_digest(repository.kind, &root.folder(&folder).join(&repository.path))?;
            let address = format!("{base}/packages/{folder}/{}", encoded(&repository.path));
            let sum = Sha256::digest(format!("{address}\n{node_root}\n{index}").as_bytes());
            let digest = format!("{folder} {}", URL_SAFE_NO_PAD.encode(&sum[..16]));
            Some((id, SourceHere { kind: repository.kind, address, digest }))
        };
        repositories_here.into_iter().filter_map(here).collect()
    })
    .await
}

/// Repositories that were applied to nodes of a cluster.
#[derive(Default)]
pub(crate) struct AppliedSources {
    /// Tasks that distribute repositories, with the documents of their applied states.
    applied: Vec<(String, DocumentId)>,
    documents: HashMap<DocumentId, JsonMap>,
}

impl AppliedSources {
    pub(crate) async fn read(session: &mut Session, cluster: &Cluster) -> ServiceResult<Self> {
        let applied = session.applied_repositories(cluster.id).await?;
        let ids: HashSet<DocumentId> = applied.iter().map(|(_, document)| *document).collect();
        let documents = session.documents_get(&ids.into_iter().collect::<Vec<_>>()).await?;
        Ok(Self { applied, documents })
    }

    /// Returns plugins whose repositories nodes may still use although the plugins are not `present`: names and directories.
    pub(crate) fn former(&self, present: &HashSet<String>) -> BTreeMap<String, String> {
        let is_present = |task: &str| plugin_of(task).is_some_and(|plugin| present.contains(plugin));
        let of_others = self.applied.iter().filter(|(task, _)| !is_present(task));
        let documents = of_others.filter_map(|(_, document)| self.documents.get(document));
        let mut former = BTreeMap::new();
        for digests in documents.filter_map(|document| document.get(STATE_KEY)?.as_object()) {
            for (plugin, digest) in digests.iter().filter(|(plugin, _)| !present.contains(*plugin)) {
                let folder = digest.as_str().and_then(|digest| digest.split(' ').next()).unwrap_or_default();
                former.insert(plugin.clone(), folder.to_owned());
            }
        }
        former
    }
}

fn plugin_of(task: &str) -> Option<&str> {
    task.strip_suffix(TASK_SUFFIX)?.strip_suffix('-')
}

/// Replaces an unspecified address (`0.0.0.0`) by the hostname, since nodes cannot connect to it.
fn reachable(listen: SocketAddr) -> String {
    if !listen.ip().is_unspecified() {
        return listen.to_string();
    }
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    host.map_or_else(|| listen.to_string(), |host| format!("{host}:{}", listen.port()))
}

/// Percent-encodes a path.
fn encoded(path: &str) -> String {
    let mut encoded = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/.-_~+".contains(&byte) {
            encoded.push(byte.into());
        } else {
            _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Reports whether parameters contain the credential placeholder.
pub fn wants_credential(parameters: &Json) -> bool {
    match parameters {
        Json::String(text) => text.contains(PASSWORD_PLACEHOLDER),
        Json::Array(items) => items.iter().any(wants_credential),
        Json::Object(map) => map.values().any(wants_credential),
        _ => false,
    }
}

/// Replaces the credential placeholders in the parameters of a task.
pub fn put_credential(parameters: &mut Json, user: &str, password: &str) {
    match parameters {
        Json::String(text) if text.contains(PASSWORD_PLACEHOLDER) => {
            *text = text.replace(USER_PLACEHOLDER, user).replace(PASSWORD_PLACEHOLDER, password);
        }
        Json::Array(items) => items.iter_mut().for_each(|item| put_credential(item, user, password)),
        Json::Object(map) => map.values_mut().for_each(|item| put_credential(item, user, password)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credential_placeholders_are_replaced() {
        let mark = "{STOKER_PACKAGES_USER}:{STOKER_PACKAGES_PASSWORD}";
        let mut given = json!({"a": [{"b": mark}, mark], "c": "{STOKER_PACKAGES_USER}", "d": 1});
        assert!(wants_credential(&given));
        put_credential(&mut given, "u", "p");
        assert_eq!(given, json!({"a": [{"b": "u:p"}, "u:p"], "c": "{STOKER_PACKAGES_USER}", "d": 1}));
        assert!(!wants_credential(&given), "it has it");
    }

    #[test]
    fn unspecified_address_is_replaced_by_hostname() {
        assert_eq!(reachable("10.0.0.1:80".parse().unwrap()), "10.0.0.1:80");
        assert!(!reachable("0.0.0.0:80".parse().unwrap()).starts_with("0.0.0.0"));
        assert_eq!(encoded("repositories/ub untu+1"), "repositories/ub%20untu+1");
    }

    #[test]
    fn repository_task_name_contains_plugin() {
        assert_eq!(plugin_of("grid-net-repository"), Some("grid-net"));
        assert_eq!(plugin_of("gridrepository"), None);
    }
}
