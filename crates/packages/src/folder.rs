//! Packages in directories.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use stoker_diagnostics::{Diagnostic, sort};
use stoker_registry::package::{CheckResult, PackageCheckOptions, PackageTree, check, codes};

use crate::error::FolderError;
use crate::limits::ArchiveLimits;
use crate::listing::{has_extension, list};
use crate::repository::problems;

/// Result of checking a directory.
#[derive(Debug)]
pub struct CheckedFolder {
    pub tree: PackageTree,
    pub result: CheckResult,
}

/// Checks the package in a directory and reports all problems.
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

fn read_bounded(path: &Path, bytes_max: u64) -> Result<Vec<u8>, FolderError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| FolderError::Unreadable { path: path.to_owned(), error })
}
