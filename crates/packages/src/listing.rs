//! Names of the files in a folder, bounded in number and depth.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::FolderError;
use crate::limits::ArchiveLimits;

/// Lists a directory recursively: files as `a/b`, directories as `a/`. Top-level names that start with a dot are
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
            // Symbolic links are followed when a source directory is checked; packing rejects them.
            let metadata = fs::metadata(entry.path())
                .map_err(|error| FolderError::Unreadable { path: entry.path(), error })?;
            if metadata.is_dir() {
                if inner.split('/').count() >= limits.depth_max {
                    let reason = format!("directories are nested more than {} levels deep", limits.depth_max);
                    return Err(unfit(reason));
                }
                pending.push(format!("{inner}/"));
                paths.insert(format!("{inner}/"));
            } else {
                paths.insert(inner);
            }
            if paths.len() > limits.n_entries_max {
                return Err(unfit(format!("the directory has more than {} files", limits.n_entries_max)));
            }
        }
    }
    Ok(paths)
}

pub(crate) fn has_extension(path: &str, expected: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == expected) && !path.ends_with('/')
}
