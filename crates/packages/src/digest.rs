//! One sum over all that is in a folder: whether it is what it was.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sha1::{Digest as _, Sha1};

use crate::checksums::hex;
use crate::error::FolderError;
use crate::folder::list;
use crate::limits::Limits;

const PIECE_BYTES: usize = 64 << 10;

/// The sum of names, contents and who may execute what; not of times and owners, which differ from server to server.
/// What is beyond the limits is an error.
pub fn folder_digest(folder: &Path, limits: &Limits) -> Result<String, FolderError> {
    let mut hasher = Sha1::new();
    let mut n_bytes_left = limits.total_bytes_max;
    for path in list(folder, limits)?.iter().filter(|path| !path.ends_with('/')) {
        let full = folder.join(path);
        let unreadable = |error| FolderError::Unreadable { path: full.clone(), error };
        let metadata = fs::metadata(&full).map_err(unreadable)?;
        n_bytes_left = n_bytes_left.checked_sub(metadata.len()).ok_or_else(|| FolderError::Unfit {
            path: full.clone(),
            reason: format!("the files are larger than {} bytes together", limits.total_bytes_max),
        })?;
        let is_executable = metadata.permissions().mode() & 0o111 != 0;
        hasher.update(path.as_bytes());
        hasher.update([0, u8::from(is_executable)]);
        hasher.update(metadata.len().to_be_bytes());
        add(&mut hasher, &full, metadata.len()).map_err(unreadable)?;
    }
    Ok(hex(&hasher.finalize()))
}

/// Not more than was announced: somebody may be writing.
fn add(hasher: &mut Sha1, path: &Path, n_bytes: u64) -> io::Result<()> {
    let mut file = File::open(path)?.take(n_bytes);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(()),
            n_read => hasher.update(&piece[..n_read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use stoker_testkit::Folder;

    use super::*;

    #[test]
    fn every_change_is_another_sum_and_nothing_else_is() {
        let folder = Folder::new();
        let root = folder.file("scripts");
        fs::create_dir_all(root.join("inner")).unwrap();
        let sum = || folder_digest(&root, &Limits::default()).unwrap();
        let mut seen = vec![sum()];
        let mut changed = |what: &str| {
            let now = sum();
            assert!(!seen.contains(&now), "{what}");
            assert_eq!(now, sum(), "{what}");
            seen.push(now);
        };
        fs::write(root.join("a"), "one").unwrap();
        changed("a file");
        fs::write(root.join("a"), "two").unwrap();
        changed("other contents");
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o755)).unwrap();
        changed("may be executed");
        fs::rename(root.join("a"), root.join("inner/a")).unwrap();
        changed("another name");
        fs::write(root.join("b"), "").unwrap();
        changed("an empty file");
    }

    #[test]
    fn what_is_too_much_or_not_there_is_an_error() {
        let folder = Folder::new();
        fs::write(folder.file("a"), "four").unwrap();
        let root = folder.file("a").parent().unwrap().to_owned();
        let limits = Limits { total_bytes_max: 3, ..Limits::default() };
        assert!(matches!(folder_digest(&root, &limits), Err(FolderError::Unfit { .. })));
        assert!(folder_digest(&root.join("nonesuch"), &Limits::default()).is_err());
    }
}
