//! Packages in folders.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use stoker_diagnostics::{Diagnostic, sort};
use stoker_registry::package::{CheckResult, PackageCheckOptions, PackageTree, check, codes};

use crate::error::FolderError;
use crate::limits::ArchiveLimits;
use crate::repository::problems;

/// Result of checking a folder.
#[derive(Debug)]
pub struct CheckedFolder {
    pub tree: PackageTree,
    pub result: CheckResult,
}

/// Checks the package in a folder and reports all problems.
pub fn check_folder(folder: &Path, options: PackageCheckOptions) -> Result<CheckedFolder, FolderError> {
    let limits = ArchiveLimits::default();
    let mut tree = PackageTree { paths: list(folder, &limits)?, ..PackageTree::default() };
    let mut unreadable = Vec::new();
    for name in tree.paths.iter().filter(|path| !path.contains('/') && has_extension(path, "yaml")) {
        let bytes = read_bounded(&folder.join(name), limits.text_bytes_max)?;
        if bytes.len() as u64 > limits.text_bytes_max {
            let message = format!("the file exceeds {} bytes", limits.text_bytes_max);
            unreadable.push(Diagnostic::error(codes::YAML_SYNTAX, message).in_file(name));
            continue;
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            let at = error.utf8_error().valid_up_to();
            let message = format!("the file is not valid UTF-8 at byte {at}");
            unreadable.push(Diagnostic::error(codes::YAML_SYNTAX, message).in_file(name));
            // Check the rest of the file too.
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        tree.texts.insert(name.clone(), text);
    }
    let mut checked = check(&tree, options);
    let repository_problems =
        checked.package.as_ref().map(|package| problems(folder, &package.plugin, &tree.paths));
    unreadable.extend(repository_problems.into_iter().flatten());
    if !unreadable.is_empty() {
        checked.package = None;
        let is_reported = |problem: &Diagnostic| {
            unreadable.iter().any(|other| other.location.file == problem.location.file)
        };
        checked.problems.retain(|problem| problem.code != codes::FILE_MISSING || !is_reported(problem));
        checked.problems.extend(unreadable);
        sort(&mut checked.problems);
    }
    Ok(CheckedFolder { tree, result: checked })
}

pub(crate) fn has_extension(path: &str, expected: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == expected) && !path.ends_with('/')
}

fn read_bounded(path: &Path, bytes_max: u64) -> Result<Vec<u8>, FolderError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| FolderError::Unreadable { path: path.to_owned(), error })
}

/// Lists a folder recursively: files as `a/b`, folders as `a/`. Top-level names that start with a dot are
/// skipped; they belong to the author's tools.
pub(crate) fn list(folder: &Path, limits: &ArchiveLimits) -> Result<BTreeSet<String>, FolderError> {
    let mut paths = BTreeSet::new();
    let mut pending = vec![String::new()];
    while let Some(prefix) = pending.pop() {
        let path = folder.join(&prefix);
        let unreadable = |error| FolderError::Unreadable { path: path.clone(), error };
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let unfit = |reason: String| FolderError::NotPackable { path: entry.path(), reason };
            let name =
                entry.file_name().into_string().map_err(|_| unfit("its name is not UTF-8".to_owned()))?;
            if prefix.is_empty() && name.starts_with('.') {
                continue;
            }
            let inner = format!("{prefix}{name}");
            // Symbolic links are followed when a source folder is checked; packing rejects them.
            let metadata = fs::metadata(entry.path())
                .map_err(|error| FolderError::Unreadable { path: entry.path(), error })?;
            if metadata.is_dir() {
                if inner.split('/').count() >= limits.depth_max {
                    let reason = format!("folders are nested more than {} levels deep", limits.depth_max);
                    return Err(unfit(reason));
                }
                pending.push(format!("{inner}/"));
                paths.insert(format!("{inner}/"));
            } else {
                paths.insert(inner);
            }
            if paths.len() > limits.n_entries_max {
                return Err(unfit(format!("the folder has more than {} files", limits.n_entries_max)));
            }
        }
    }
    Ok(paths)
}
