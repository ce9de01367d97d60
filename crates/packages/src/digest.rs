//! Digest of the contents of a directory, for change detection.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sha1::{Digest as _, Sha1};

use crate::error::FolderError;
use crate::limits::ArchiveLimits;
use crate::listing::list;

const CHUNK_BYTES: usize = 64 << 10;

/// Returns the digest of paths, contents and executable bits. Times and owners are excluded, because they
/// differ between servers. Fails if the directory exceeds the limits.
pub fn folder_digest(folder: &Path, limits: &ArchiveLimits) -> Result<String, FolderError> {
    let mut hasher = Sha1::new();
    let mut n_bytes_remaining = limits.total_bytes_max;
    for path in list(folder, limits)?.iter().filter(|path| !path.ends_with('/')) {
        let full = folder.join(path);
        let unreadable = |error| FolderError::Unreadable { path: full.clone(), error };
        let metadata = fs::metadata(&full).map_err(unreadable)?;
        n_bytes_remaining =
            n_bytes_remaining.checked_sub(metadata.len()).ok_or_else(|| FolderError::NotPackable {
                path: full.clone(),
                reason: format!("the total size of the files exceeds {} bytes", limits.total_bytes_max),
            })?;
        let is_executable = metadata.permissions().mode() & 0o111 != 0;
        hasher.update(path.as_bytes());
        hasher.update([0, u8::from(is_executable)]);
        hasher.update(metadata.len().to_be_bytes());
        hash_file(&mut hasher, &full, metadata.len()).map_err(unreadable)?;
    }
    Ok(hex::encode(hasher.finalize()))
}

/// Hashes at most `n_bytes`, because the file may grow while it is read.
fn hash_file(hasher: &mut Sha1, path: &Path, n_bytes: u64) -> io::Result<()> {
    let mut file = File::open(path)?.take(n_bytes);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(()),
            n_read => hasher.update(&chunk[..n_read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use stoker_testkit::TempFolder;

    use super::*;

    #[test]
    fn every_change_changes_the_digest() {
        let folder = TempFolder::new();
        let root = folder.file("scripts");
        fs::create_dir_all(root.join("inner")).unwrap();
        let sum = || folder_digest(&root, &ArchiveLimits::default()).unwrap();
        let mut digests = vec![sum()];
        let mut changed = |change: &str| {
            let now = sum();
            assert!(!digests.contains(&now), "{change}");
            assert_eq!(now, sum(), "{change}");
            digests.push(now);
        };
        fs::write(root.join("a"), "one").unwrap();
        changed("a file");
        fs::write(root.join("a"), "two").unwrap();
        changed("other contents");
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o755)).unwrap();
        changed("executable");
        fs::rename(root.join("a"), root.join("inner/a")).unwrap();
        changed("another name");
        fs::write(root.join("b"), "").unwrap();
        changed("an empty file");
    }

    #[test]
    fn oversized_or_missing_folder_is_an_error() {
        let folder = TempFolder::new();
        fs::write(folder.file("a"), "four").unwrap();
        let root = folder.file("a").parent().unwrap().to_owned();
        let limits = ArchiveLimits { total_bytes_max: 3, ..ArchiveLimits::default() };
        assert!(matches!(folder_digest(&root, &limits), Err(FolderError::NotPackable { .. })));
        assert!(folder_digest(&root.join("nonesuch"), &ArchiveLimits::default()).is_err());
    }
}
