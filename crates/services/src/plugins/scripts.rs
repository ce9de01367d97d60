//! Deployment scripts of plugins.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};

use stoker_model::{Cluster, Plugin, PluginId, Release};
use stoker_packages::{ArchiveLimits, folder_digest};

use crate::error::ServiceResult;

use super::files::{Packages, spawn_blocking_io};

/// Limits for computing the digest of a scripts directory; larger directories cannot be copied to nodes
/// anyway.
const LIMITS: ArchiveLimits = ArchiveLimits {
    n_entries_max: 4000,
    file_bytes_max: 32 << 20,
    total_bytes_max: 32 << 20,
    depth_max: 32,
    path_bytes_max: 1024,
    text_bytes_max: 4 << 20,
};

/// Scripts of a plugin on this server.
pub struct ScriptsHere {
    pub folder: PathBuf,
    /// Digest of the scripts; `None` if they cannot be read completely, in which case copying them reports
    /// the reason.
    pub digest: Option<String>,
}

/// Returns the scripts of plugins that were installed from a package, into one of `folders`, and fit the cluster.
pub async fn scripts_of(
    packages: &Packages,
    folders: &BTreeMap<String, PluginId>,
    cluster: &Cluster,
    release: &Release,
    plugins: impl Iterator<Item = &Plugin>,
) -> ServiceResult<HashMap<PluginId, ScriptsHere>> {
    let target = release.body.compatibility_target(Some(&cluster.mode));
    let mut folders_here = Vec::new();
    for plugin in plugins {
        let folder = folders.iter().find(|(_, id)| **id == plugin.id).map(|(name, _)| name);
        let scripts = plugin.body.scripts_path(target).filter(|path| stays_inside(path));
        let (Some(folder), Some(scripts)) = (folder, scripts) else { continue };
        let folder = packages.root().folder(folder).join(scripts);
        folders_here.push((
            plugin.id,
            plugin.body.version.clone(),
            std::path::absolute(&folder).unwrap_or(folder),
        ));
    }
    if folders_here.is_empty() {
        return Ok(HashMap::new());
    }
    spawn_blocking_io(move || {
        let with_digests = folders_here.into_iter().filter(|(_, _, folder)| !has_no_scripts(folder)).map(
            |(id, version, folder)| {
                let digest = folder_digest(&folder, &LIMITS).ok();
                // Each version has a separate directory on nodes.
                let digest = digest.map(|digest| format!("{version} {digest}"));
                (id, ScriptsHere { folder, digest })
            },
        );
        with_digests.collect()
    })
    .await
}

/// Rejects paths that leave the package. Packages are validated at installation, but plugin records can change later.
fn stays_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Reports whether a directory does not exist or contains only hidden files. Archives cannot contain an empty directory, so
/// packages put a hidden file there.
fn has_no_scripts(folder: &Path) -> bool {
    let is_hidden = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name().as_encoded_bytes().starts_with(b"."))
    };
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.all(is_hidden),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}
