//! A package in a folder.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use stoker_registry::package::{CheckOptions, Checked, PackageProblem, PackageTree, check, codes};

use crate::error::FolderError;
use crate::limits::Limits;
use crate::repository::problems;

/// A folder that was judged.
#[derive(Debug)]
pub struct CheckedFolder {
    pub tree: PackageTree,
    pub checked: Checked,
}

/// Judges the package in a folder: all files, all problems.
pub fn check_folder(folder: &Path, options: CheckOptions) -> Result<CheckedFolder, FolderError> {
    let limits = Limits::default();
    let mut tree = PackageTree { paths: list(folder, &limits)?, ..PackageTree::default() };
    let mut unreadable = Vec::new();
    for name in tree.paths.iter().filter(|path| !path.contains('/') && has_extension(path, "yaml")) {
        let bytes = read_bounded(&folder.join(name), limits.text_bytes_max)?;
        if bytes.len() as u64 > limits.text_bytes_max {
            let message = format!("the file has more than {} bytes", limits.text_bytes_max);
            unreadable.push(PackageProblem::of_file(name, codes::YAML_SYNTAX, message));
            continue;
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            let at = error.utf8_error().valid_up_to();
            let message = format!("the file is no UTF-8 text: byte {at} fits no character");
            unreadable.push(PackageProblem::of_file(name, codes::YAML_SYNTAX, message));
            // The rest of it is judged all the same.
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        tree.texts.insert(name.clone(), text);
    }
    let mut checked = check(&tree, options);
    let broken = checked.package.as_ref().map(|package| problems(folder, &package.plugin, &tree.paths));
    unreadable.extend(broken.into_iter().flatten());
    if !unreadable.is_empty() {
        checked.package = None;
        let is_told = |problem: &PackageProblem| unreadable.iter().any(|known| known.file == problem.file);
        checked.problems.retain(|problem| problem.code != codes::FILE_MISSING || !is_told(problem));
        checked.problems.extend(unreadable);
        checked.problems.sort_by(|a, b| a.file.cmp(&b.file));
    }
    Ok(CheckedFolder { tree, checked })
}

pub(crate) fn has_extension(path: &str, wanted: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == wanted) && !path.ends_with('/')
}

fn read_bounded(path: &Path, bytes_max: u64) -> Result<Vec<u8>, FolderError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| FolderError::Unreadable { path: path.to_owned(), error })
}

/// Everything in a folder: files as `a/b`, folders as `a/`. Names at the top that begin with a dot belong to tools of the
/// author and not to the package.
pub(crate) fn list(folder: &Path, limits: &Limits) -> Result<BTreeSet<String>, FolderError> {
    let mut found = BTreeSet::new();
    let mut open = vec![String::new()];
    while let Some(prefix) = open.pop() {
        let path = folder.join(&prefix);
        let unreadable = |error| FolderError::Unreadable { path: path.clone(), error };
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let unfit = |reason: String| FolderError::Unfit { path: entry.path(), reason };
            let name =
                entry.file_name().into_string().map_err(|_| unfit("its name is not UTF-8".to_owned()))?;
            if prefix.is_empty() && name.starts_with('.') {
                continue;
            }
            let inner = format!("{prefix}{name}");
            // Links are followed: in a source they are a convenience. What is packed is looked at again.
            let metadata = fs::metadata(entry.path())
                .map_err(|error| FolderError::Unreadable { path: entry.path(), error })?;
            if metadata.is_dir() {
                if inner.split('/').count() >= limits.depth_max {
                    let reason = format!("more than {} folders are inside of each other", limits.depth_max);
                    return Err(unfit(reason));
                }
                open.push(format!("{inner}/"));
                found.insert(format!("{inner}/"));
            } else {
                found.insert(inner);
            }
            if found.len() > limits.n_entries_max {
                return Err(unfit(format!("there are more than {} files", limits.n_entries_max)));
            }
        }
    }
    Ok(found)
}
