//! Files that appear whole or not at all.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::unistd::{Gid, Group, Uid, User};

use super::super::{FileToWrite, HostError, Owner};

/// Writes beside the place and moves there; nobody ever sees half a file or one with the wrong permissions.
pub(super) fn write(file: &FileToWrite) -> Result<(), HostError> {
    let path = target(&file.path)?;
    let wrong = |error: std::io::Error| HostError::file("write", &path, &reason(&error));
    let Some(folder) = path.parent() else {
        return Err(HostError::file("write", &path, &"it has no folder"));
    };
    if path.is_dir() {
        return Err(HostError::file("write", &path, &"it is a folder"));
    }
    if let Some(permissions) = file.parents {
        make_folders(folder, permissions)?;
    }
    let owner = file.owner.as_ref().map(find_owner).transpose()?;
    let mut beside = tempfile::Builder::new().prefix(".stoker-").tempfile_in(folder).map_err(wrong)?;
    beside.write_all(&file.data).map_err(wrong)?;
    if let Some((user, group)) = owner {
        nix::unistd::fchown(beside.as_file(), Some(user), Some(group))
            .map_err(|error| wrong(error.into()))?;
    }
    beside.as_file().set_permissions(Permissions::from_mode(file.permissions)).map_err(wrong)?;
    beside.as_file().sync_all().map_err(wrong)?;
    beside.persist(&path).map_err(|error| wrong(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(wrong)
}

/// A link stays, and what it leads to is written.
fn target(path: &Path) -> Result<PathBuf, HostError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            fs::canonicalize(path).map_err(|error| HostError::file("follow the link", path, &error))
        }
        _ => Ok(path.to_owned()),
    }
}

/// Only those that are missing, each with the permissions wanted, whatever the mask of the process is.
fn make_folders(folder: &Path, permissions: u32) -> Result<(), HostError> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        make_folders(parent, permissions)?;
    }
    let wrong = |error: std::io::Error| HostError::file("create the folder", folder, &reason(&error));
    match DirBuilder::new().mode(permissions).create(folder) {
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(permissions)).map_err(wrong),
        // Somebody else was faster.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(wrong(error)),
    }
}

fn find_owner(owner: &Owner) -> Result<(Uid, Gid), HostError> {
    let missing =
        |kind: &str, name: &str| HostError::Other(format!("there is no {kind} `{name}` on this machine"));
    let user = User::from_name(&owner.user).ok().flatten().ok_or_else(|| missing("user", &owner.user))?;
    let group =
        Group::from_name(&owner.group).ok().flatten().ok_or_else(|| missing("group", &owner.group))?;
    Ok((user.uid, group.gid))
}

/// Without the number that Rust puts behind it.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(text, _)| text.to_owned())
}
