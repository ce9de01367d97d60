//! Repositories of packages inside of plugins: folders of `.deb` or `.rpm` files, and the index that package managers
//! read to find them.
//!
//! The index is made when a plugin is packed and lies in the archive only: the folder of the author stays as it is. One
//! that somebody has signed is left alone, for it could not be signed again.

mod debian;
mod rpm;
mod rpm_header;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};
use stoker_model::{Json, NewPlugin};
use stoker_registry::package::{PackageProblem, codes};
use stoker_registry::sources::RepositoryKind;

use crate::checksums::hex;
use crate::error::FolderError;
use crate::folder::{has_extension, list};
use crate::limits::Limits;

/// Of a file of an index, as far as it is looked at.
const INDEX_BYTES_MAX: u64 = 16 << 20;

/// A folder with packages, as an entry of `releases` names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    /// Inside of the plugin, in one spelling: without `.` and without a slash at the end.
    pub path: String,
    pub kind: RepositoryKind,
}

/// A file of an index, as it will be inside of the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexFile {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

fn extension(kind: RepositoryKind) -> &'static str {
    match kind {
        RepositoryKind::Debian => "deb",
        RepositoryKind::Rpm => "rpm",
    }
}

/// Files one of which a package manager begins with.
fn entries(kind: RepositoryKind) -> &'static [&'static str] {
    match kind {
        RepositoryKind::Debian => &["InRelease", "Release", "Packages.gz", "Packages"],
        RepositoryKind::Rpm => &["repodata/repomd.xml"],
    }
}

/// Files that only somebody with a key can make.
fn signatures(kind: RepositoryKind) -> &'static [&'static str] {
    match kind {
        RepositoryKind::Debian => &["InRelease", "Release.gpg"],
        RepositoryKind::Rpm => &["repodata/repomd.xml.asc"],
    }
}

/// What tells an index from others; none if there is none, and no package manager can use the folder.
pub fn index_digest(kind: RepositoryKind, folder: &Path) -> Option<String> {
    let mut hasher = Sha256::new();
    let mut is_there = false;
    for entry in entries(kind) {
        let Ok(file) = File::open(folder.join(entry)) else { continue };
        let mut bytes = Vec::new();
        file.take(INDEX_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        is_there = true;
        hasher.update(entry.as_bytes());
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(&bytes);
    }
    is_there.then(|| hex(&hasher.finalize()))
}

impl Repository {
    /// The one at a path, as it is written. One that leads out of the plugin is none.
    pub fn new(os: &str, path: &str) -> Option<Self> {
        Some(Self { path: clean_path(path)?, kind: RepositoryKind::of_system(os)? })
    }

    /// All of a plugin.
    pub fn all_of(plugin: &NewPlugin) -> Vec<Self> {
        let mut found = BTreeMap::new();
        for entry in &plugin.releases {
            let text = |key: &str| entry.get(key).and_then(Json::as_str);
            if let Some(one) =
                text("os").zip(text("repository_path")).and_then(|(os, path)| Self::new(os, path))
            {
                found.entry(one.path).or_insert(one.kind);
            }
        }
        found.into_iter().map(|(path, kind)| Self { path, kind }).collect()
    }

    /// Packages in it, by path from the root of the plugin.
    fn packages<'p>(&self, paths: impl Iterator<Item = &'p String>) -> Vec<&'p str> {
        let is_inside = |path: &&'p String| {
            path.strip_prefix(&self.path).is_some_and(|rest| rest.starts_with('/'))
                && has_extension(path, extension(self.kind))
        };
        paths.filter(is_inside).map(String::as_str).collect()
    }

    fn inside<'p>(&self, path: &'p str) -> &'p str {
        path.get(self.path.len() + 1..).unwrap_or(path)
    }
}

/// A path inside of a plugin in one spelling; none for the plugin itself and for what is outside.
pub fn clean_path(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let stays = !path.starts_with('/') && !parts.is_empty() && !parts.contains(&"..");
    stays.then(|| parts.join("/"))
}

/// The indexes of all repositories of the plugin in a folder.
pub(crate) fn indexes(folder: &Path, plugin: &NewPlugin) -> Result<Vec<IndexFile>, FolderError> {
    let paths = list(folder, &Limits::default())?;
    let mut files = Vec::new();
    for repository in Repository::all_of(plugin) {
        let packages = repository.packages(paths.iter());
        let is_signed = |name: &&str| paths.contains(&format!("{}/{name}", repository.path));
        if packages.is_empty() || signatures(repository.kind).iter().any(is_signed) {
            continue;
        }
        let made = match repository.kind {
            RepositoryKind::Debian => debian::index(folder, &repository, &packages, plugin)?,
            RepositoryKind::Rpm => rpm::index(folder, &repository, &packages)?,
        };
        let place = |(name, bytes): (String, Vec<u8>)| IndexFile {
            path: format!("{}/{name}", repository.path),
            bytes,
        };
        files.extend(made.into_iter().map(place));
    }
    Ok(files)
}

/// Paths of repositories that have packages and no index: somebody else has packed the plugin.
pub fn repositories_without_index(
    folder: &Path,
    plugin: &NewPlugin,
    paths: &BTreeSet<String>,
) -> Vec<String> {
    let is_without = |one: &Repository| {
        !one.packages(paths.iter()).is_empty() && index_digest(one.kind, &folder.join(&one.path)).is_none()
    };
    Repository::all_of(plugin).into_iter().filter(is_without).map(|one| one.path).collect()
}

/// Packages that cannot be read, and so cannot be found by any package manager.
pub(crate) fn problems(folder: &Path, plugin: &NewPlugin, paths: &BTreeSet<String>) -> Vec<PackageProblem> {
    let mut problems = Vec::new();
    for repository in Repository::all_of(plugin) {
        for path in repository.packages(paths.iter()) {
            let read = match repository.kind {
                RepositoryKind::Debian => debian::Control::read(&folder.join(path)).map(drop),
                RepositoryKind::Rpm => rpm_header::Header::read(&folder.join(path)).map(drop),
            };
            if let Err(reason) = read {
                problems.push(PackageProblem::of_file(path, codes::PACKAGE_UNREADABLE, reason));
            }
        }
    }
    problems
}

/// What an index says about a file whatever is in it.
struct Sum {
    sha256: String,
    n_bytes: u64,
}

fn sum_of_file(path: &Path) -> Result<Sum, FolderError> {
    let summed = || -> io::Result<Sum> {
        let mut file = File::open(path)?;
        let mut hasher = Sha256::new();
        let mut piece = vec![0; 64 << 10];
        let mut n_bytes = 0;
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(Sum { sha256: hex(&hasher.finalize()), n_bytes }),
                n_read => {
                    hasher.update(&piece[..n_read]);
                    n_bytes += n_read as u64;
                }
            }
        }
    };
    summed().map_err(|error| FolderError::Unreadable { path: path.to_owned(), error })
}

fn sum_of(bytes: &[u8]) -> Sum {
    Sum { sha256: hex(&Sha256::digest(bytes)), n_bytes: bytes.len() as u64 }
}

/// The same bytes for the same text, whenever and wherever it is compressed.
fn compressed(text: &str) -> Result<Vec<u8>, FolderError> {
    let mut encoder =
        GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    Ok(encoder.finish()?)
}

fn unfit(path: &Path, reason: String) -> FolderError {
    FolderError::Unfit { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for (path, expected) in [
            ("repositories/ubuntu", Some("repositories/ubuntu")),
            ("./repositories//ubuntu/", Some("repositories/ubuntu")),
            (".", None),
            ("", None),
            ("/etc", None),
            ("../other", None),
            ("a/../../b", None),
        ] {
            assert_eq!(clean_path(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_that_two_releases_share_is_one_repository() {
        let entry = |os: &str, path: &str| serde_json::json!({"os": os, "repository_path": path});
        let releases = vec![
            entry("ubuntu", "repo/u"),
            entry("Ubuntu", "repo/u/"),
            entry("centos", "repo/c"),
            entry("plan9", "repo/p"),
            entry("ubuntu", "../out"),
            serde_json::json!({"os": "ubuntu"}),
        ];
        let plugin = NewPlugin { releases, ..NewPlugin::new("x", "1.0.0", "5.0.0") };
        let found = Repository::all_of(&plugin);
        let found: Vec<(&str, RepositoryKind)> = found.iter().map(|one| (&*one.path, one.kind)).collect();
        assert_eq!(found, [("repo/c", RepositoryKind::Rpm), ("repo/u", RepositoryKind::Debian)]);
    }
}
