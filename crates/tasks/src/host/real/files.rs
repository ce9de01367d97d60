//! Atomic file writes.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::unistd::{Gid, Group, Uid, User};

use super::super::{FileOwner, FileToWrite, HostError};

/// Writes a temporary file in the same directory and renames it, so that readers never see a partial file or
/// wrong permissions.
pub(super) fn write(file: &FileToWrite) -> Result<(), HostError> {
    let path = target(&file.path)?;
    let write_error = |error: std::io::Error| HostError::file("write", &path, &reason(&error));
    let Some(folder) = path.parent() else {
        return Err(HostError::file("write", &path, &"it has no parent directory"));
    };
    if path.is_dir() {
        return Err(HostError::file("write", &path, &"it is a directory"));
    }
    if let Some(permissions) = file.parents {
        create_folders(folder, permissions)?;
    }
    let owner = file.owner.as_ref().map(find_owner).transpose()?;
    let mut temporary =
        tempfile::Builder::new().prefix(".stoker-").tempfile_in(folder).map_err(write_error)?;
    temporary.write_all(&file.data).map_err(write_error)?;
    if let Some((user, group)) = owner {
        nix::unistd::fchown(temporary.as_file(), Some(user), Some(group))
            .map_err(|error| write_error(error.into()))?;
    }
    temporary.as_file().set_permissions(Permissions::from_mode(file.permissions)).map_err(write_error)?;
    temporary.as_file().sync_all().map_err(write_error)?;
    temporary.persist(&path).map_err(|error| write_error(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(write_error)
}

/// Resolves a symbolic link, so that its target is written and the link stays.
fn target(path: &Path) -> Result<PathBuf, HostError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            fs::canonicalize(path).map_err(|error| HostError::file("resolve the link", path, &error))
        }
        _ => Ok(path.to_owned()),
    }
}

/// Creates missing directories with these permissions, independent of the process's umask.
fn create_folders(folder: &Path, permissions: u32) -> Result<(), HostError> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_folders(parent, permissions)?;
    }
    let write_error =
        |error: std::io::Error| HostError::file("create the directory", folder, &reason(&error));
    match DirBuilder::new().mode(permissions).create(folder) {
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(permissions)).map_err(write_error),
        // Created concurrently by another process.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(write_error(error)),
    }
}

fn find_owner(owner: &FileOwner) -> Result<(Uid, Gid), HostError> {
    let missing =
        |kind: &str, name: &str| HostError::Other(format!("{kind} `{name}` does not exist on this machine"));
    let user = User::from_name(&owner.user).ok().flatten().ok_or_else(|| missing("user", &owner.user))?;
    let group =
        Group::from_name(&owner.group).ok().flatten().ok_or_else(|| missing("group", &owner.group))?;
    Ok((user.uid, group.gid))
}

/// Returns the error text without the `(os error N)` suffix that Rust appends.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(text, _)| text.to_owned())
}
