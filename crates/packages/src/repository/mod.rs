//! Package repositories inside plugins: directories of `.deb` or `.rpm` files and the indexes that package
//! managers read.
//!
//! Indexes are generated when a plugin is packed and exist only in the archive; the directory of the author
//! is not changed. A signed index is left unchanged, because the signature could not be recreated.

mod debian;
mod rpm;
mod rpm_header;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};
use stoker_diagnostics::Diagnostic;
use stoker_model::{ErrorChain, Json, NewPlugin};
use stoker_registry::package::codes;
use stoker_registry::sources::RepositoryKind;

use crate::error::{FolderError, PackageFileError};
use crate::limits::ArchiveLimits;
use crate::listing::{has_extension, list};

/// Maximum number of bytes of an index file that are hashed.
const INDEX_BYTES_MAX: u64 = 16 << 20;

/// Repository directory, from an entry of `releases`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    /// Normalized path in the plugin: no `.` components, no trailing slash.
    pub path: String,
    pub kind: RepositoryKind,
}

/// Index file with its path in the plugin.
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

/// Returns the entry points of a repository: a package manager reads one of these files first.
fn entries(kind: RepositoryKind) -> &'static [&'static str] {
    match kind {
        RepositoryKind::Debian => &["InRelease", "Release", "Packages.gz", "Packages"],
        RepositoryKind::Rpm => &["repodata/repomd.xml"],
    }
}

/// Returns the signature files, which cannot be regenerated without the author's key.
fn signatures(kind: RepositoryKind) -> &'static [&'static str] {
    match kind {
        RepositoryKind::Debian => &["InRelease", "Release.gpg"],
        RepositoryKind::Rpm => &["repodata/repomd.xml.asc"],
    }
}

/// Returns the digest of the index. `None` without an index; package managers cannot use such a directory.
pub fn index_digest(kind: RepositoryKind, folder: &Path) -> Option<String> {
    let mut hasher = Sha256::new();
    let mut has_index = false;
    for entry in entries(kind) {
        let Ok(file) = File::open(folder.join(entry)) else { continue };
        let mut bytes = Vec::new();
        file.take(INDEX_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        has_index = true;
        hasher.update(entry.as_bytes());
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(&bytes);
    }
    has_index.then(|| hex::encode(hasher.finalize()))
}

impl Repository {
    /// Returns `None` for an unknown operating system and for a path outside the plugin.
    pub fn new(os: &str, path: &str) -> Option<Self> {
        Some(Self { path: normalize_path(path)?, kind: RepositoryKind::for_os(os)? })
    }

    /// Returns all repositories of a plugin.
    pub fn for_plugin(plugin: &NewPlugin) -> Vec<Self> {
        let mut repositories = BTreeMap::new();
        for entry in &plugin.releases {
            let text = |key: &str| entry.get(key).and_then(Json::as_str);
            if let Some(repository) =
                text("os").zip(text("repository_path")).and_then(|(os, path)| Self::new(os, path))
            {
                repositories.entry(repository.path).or_insert(repository.kind);
            }
        }
        repositories.into_iter().map(|(path, kind)| Self { path, kind }).collect()
    }

    /// Returns the packages of the repository, as paths in the plugin.
    fn packages<'p>(&self, paths: impl Iterator<Item = &'p String>) -> Vec<&'p str> {
        let is_inside = |path: &&'p String| {
            path.strip_prefix(&self.path).is_some_and(|rest| rest.starts_with('/'))
                && has_extension(path, extension(self.kind))
        };
        paths.filter(is_inside).map(String::as_str).collect()
    }

    fn relative<'p>(&self, path: &'p str) -> &'p str {
        path.get(self.path.len() + 1..).unwrap_or(path)
    }
}

/// Normalizes a path in a plugin. `None` for the plugin itself and for paths outside it.
pub fn normalize_path(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let is_inside = !path.starts_with('/') && !parts.is_empty() && !parts.contains(&"..");
    is_inside.then(|| parts.join("/"))
}

/// Generates the indexes of all repositories of a plugin.
pub(crate) fn indexes(folder: &Path, plugin: &NewPlugin) -> Result<Vec<IndexFile>, FolderError> {
    let paths = list(folder, &ArchiveLimits::default())?;
    let mut files = Vec::new();
    for repository in Repository::for_plugin(plugin) {
        let packages = repository.packages(paths.iter());
        let is_signed = |name: &&str| paths.contains(&format!("{}/{name}", repository.path));
        if packages.is_empty() || signatures(repository.kind).iter().any(is_signed) {
            continue;
        }
        let index_files = match repository.kind {
            RepositoryKind::Debian => debian::index(folder, &repository, &packages, plugin)?,
            RepositoryKind::Rpm => rpm::index(folder, &repository, &packages)?,
        };
        let index_file = |(name, bytes): (String, Vec<u8>)| IndexFile {
            path: format!("{}/{name}", repository.path),
            bytes,
        };
        files.extend(index_files.into_iter().map(index_file));
    }
    Ok(files)
}

/// Returns the paths of repositories with packages but without an index. This happens if another tool packed
/// the plugin.
pub fn repositories_without_index(
    folder: &Path,
    plugin: &NewPlugin,
    paths: &BTreeSet<String>,
) -> Vec<String> {
    let lacks_index = |repository: &Repository| {
        !repository.packages(paths.iter()).is_empty()
            && index_digest(repository.kind, &folder.join(&repository.path)).is_none()
    };
    Repository::for_plugin(plugin).into_iter().filter(lacks_index).map(|repository| repository.path).collect()
}

/// Reports packages that cannot be read and therefore cannot be indexed.
pub(crate) fn problems(folder: &Path, plugin: &NewPlugin, paths: &BTreeSet<String>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for repository in Repository::for_plugin(plugin) {
        for path in repository.packages(paths.iter()) {
            let read = match repository.kind {
                RepositoryKind::Debian => debian::Control::read(&folder.join(path)).map(drop),
                RepositoryKind::Rpm => rpm_header::Header::read(&folder.join(path)).map(drop),
            };
            if let Err(error) = read {
                problems.push(
                    Diagnostic::error(codes::PACKAGE_UNREADABLE, ErrorChain(&error).to_string())
                        .in_file(path),
                );
            }
        }
    }
    problems
}

/// Size and checksum of a file.
struct Sum {
    sha256: String,
    n_bytes: u64,
}

fn sum_of_file(path: &Path) -> Result<Sum, FolderError> {
    let compute = || -> io::Result<Sum> {
        let mut file = File::open(path)?;
        let mut hasher = Sha256::new();
        let mut chunk = vec![0; 64 << 10];
        let mut n_bytes = 0;
        loop {
            match file.read(&mut chunk)? {
                0 => return Ok(Sum { sha256: hex::encode(hasher.finalize()), n_bytes }),
                n_read => {
                    hasher.update(&chunk[..n_read]);
                    n_bytes += n_read as u64;
                }
            }
        }
    };
    compute().map_err(|error| FolderError::Unreadable { path: path.to_owned(), error })
}

fn sum_of(bytes: &[u8]) -> Sum {
    Sum { sha256: hex::encode(Sha256::digest(bytes)), n_bytes: bytes.len() as u64 }
}

/// Compresses a text reproducibly: the same text gives the same bytes.
fn compressed(text: &str) -> Result<Vec<u8>, FolderError> {
    let mut encoder =
        GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    Ok(encoder.finish()?)
}

fn unfit(path: &Path, source: PackageFileError) -> FolderError {
    FolderError::Package { path: path.to_owned(), source }
}

fn invalid(reason: &str) -> PackageFileError {
    PackageFileError::Invalid(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_the_plugin_are_rejected() {
        for (path, expected) in [
            ("repositories/ubuntu", Some("repositories/ubuntu")),
            ("./repositories//ubuntu/", Some("repositories/ubuntu")),
            (".", None),
            ("", None),
            ("/etc", None),
            ("../other", None),
            ("a/../../b", None),
        ] {
            assert_eq!(normalize_path(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn releases_that_share_a_folder_share_a_repository() {
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
        let repositories = Repository::for_plugin(&plugin);
        let repositories: Vec<(&str, RepositoryKind)> =
            repositories.iter().map(|repository| (&*repository.path, repository.kind)).collect();
        assert_eq!(repositories, [("repo/c", RepositoryKind::Rpm), ("repo/u", RepositoryKind::Debian)]);
    }
}
