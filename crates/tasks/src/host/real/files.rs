//! File operations of the local machine.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::AtFlags;
use nix::unistd::{Gid, Group, Uid, User};
use stoker_model::ErrorChain;
use tempfile::{NamedTempFile, TempPath};

use super::super::{FileEntry, FileKind, FileOwner, FileToWrite, HostChange, HostError, READ_BYTES_MAX};

/// A file that was written under a temporary name in the directory of its path, so that readers never see a partial
/// file or wrong permissions.
pub(super) struct PreparedFile {
    path: PathBuf,
    temporary: TempPath,
    keeps_backup: bool,
}

pub(super) fn prepare(file: &FileToWrite) -> Result<PreparedFile, HostError> {
    let path = target(&file.path)?;
    let write_error = |error: io::Error| HostError::file("write", &path, &reason(&error));
    let Some(folder) = path.parent() else {
        return Err(HostError::file("write", &path, &"it has no parent directory"));
    };
    if path.is_dir() {
        return Err(HostError::file("write", &path, &"it is a directory"));
    }
    if let Some(permissions) = file.parents {
        create_folders(folder, permissions)?;
    }
    let (user, group) = find_owner(&file.owner)?;
    let mut temporary =
        tempfile::Builder::new().prefix(".stoker-").tempfile_in(folder).map_err(write_error)?;
    temporary.write_all(&file.data).map_err(write_error)?;
    if user.is_some() || group.is_some() {
        nix::unistd::fchown(temporary.as_file(), user, group).map_err(|error| write_error(error.into()))?;
    }
    set_permissions_and_sync(&temporary, file.permissions).map_err(write_error)?;
    // Closed before a program validates it: the kernel refuses to execute a file that is open for writing.
    Ok(PreparedFile { temporary: temporary.into_temp_path(), path, keeps_backup: file.keeps_backup })
}

fn set_permissions_and_sync(temporary: &NamedTempFile, permissions: u32) -> io::Result<()> {
    temporary.as_file().set_permissions(Permissions::from_mode(permissions))?;
    temporary.as_file().sync_all()
}

impl PreparedFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn temporary_path(&self) -> &Path {
        &self.temporary
    }

    /// Renames the file to its path.
    pub(super) fn persist(self) -> Result<(), HostError> {
        let path = self.path;
        let write_error = |error: io::Error| HostError::file("write", &path, &reason(&error));
        if self.keeps_backup {
            back_up(&path)?;
        }
        self.temporary.persist(&path).map_err(|error| write_error(error.error))?;
        sync_parent(&path).map_err(write_error)
    }
}

/// Maximum number of backups of a file.
const BACKUPS_MAX: u32 = 10_000;

/// Keeps the present file as `PATH.~N~`, with the lowest unused number. A hard link, so that the path never vanishes.
fn back_up(path: &Path) -> Result<(), HostError> {
    for number in 1..=BACKUPS_MAX {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".~{number}~"));
        match fs::hard_link(path, PathBuf::from(name)) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(HostError::file("back up", path, &reason(&error))),
        }
    }
    Err(HostError::file("back up", path, &format!("it has {BACKUPS_MAX} backups; remove some of them")))
}

/// Makes a change that is neither a file to write nor a program.
pub(super) fn change(change: &HostChange) -> Result<(), HostError> {
    match change {
        HostChange::Overwrite { path, data } => {
            let opened = fs::OpenOptions::new().write(true).truncate(true).open(path);
            opened.and_then(|mut file| file.write_all(data)).map_err(|error| failed("write", path, &error))
        }
        HostChange::CreateDirectory { path, permissions } => create_folders(path, *permissions),
        HostChange::SetPermissions { path, permissions } => {
            fs::set_permissions(path, Permissions::from_mode(*permissions))
                .map_err(|error| failed("set the mode of", path, &error))
        }
        HostChange::SetOwner { path, owner } => {
            let (user, group) = find_owner(owner)?;
            nix::unistd::fchownat(nix::fcntl::AT_FDCWD, path, user, group, AtFlags::AT_SYMLINK_NOFOLLOW)
                .map_err(|error| failed("set the owner of", path, &error.into()))
        }
        HostChange::Link { path, target } => link(path, target),
        HostChange::Remove(path) => remove(path, fs::remove_file(path)),
        HostChange::RemoveTree(path) => remove(path, fs::remove_dir_all(path)),
        HostChange::Write(_)
        | HostChange::Run(_)
        | HostChange::Unit { .. }
        | HostChange::Unpack(_)
        | HostChange::ReloadUnits => Ok(()),
    }
}

fn remove(path: &Path, removed: io::Result<()>) -> Result<(), HostError> {
    match removed {
        Ok(()) => sync_parent(path).map_err(|error| failed("remove", path, &error)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("remove", path, &error)),
    }
}

/// Creates a link under a temporary name and renames it.
fn link(path: &Path, target: &Path) -> Result<(), HostError> {
    let link_error = |error: io::Error| failed("link", path, &error);
    let Some(folder) = path.parent() else {
        return Err(HostError::file("link", path, &"it has no parent directory"));
    };
    let temporary = tempfile::Builder::new()
        .prefix(".stoker-")
        .make_in(folder, |temporary| std::os::unix::fs::symlink(target, temporary))
        .map_err(link_error)?;
    temporary.into_temp_path().persist(path).map_err(|error| link_error(error.error))?;
    sync_parent(path).map_err(link_error)
}

/// Converts metadata; `None` if the path does not exist.
pub(super) fn inspect(path: &Path, metadata: io::Result<Metadata>) -> Result<Option<FileEntry>, HostError> {
    let metadata = match metadata {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed("inspect", path, &error)),
    };
    let file_type = metadata.file_type();
    let kind = if file_type.is_dir() {
        FileKind::Directory
    } else if file_type.is_symlink() {
        let target = fs::read_link(path).map_err(|error| failed("read the link", path, &error))?;
        FileKind::Link { target }
    } else if file_type.is_file() {
        FileKind::File { n_bytes: metadata.len() }
    } else {
        debug_assert!(
            file_type.is_block_device()
                || file_type.is_char_device()
                || file_type.is_fifo()
                || file_type.is_socket()
        );
        FileKind::Special
    };
    Ok(Some(FileEntry {
        kind,
        permissions: metadata.mode() & 0o7777,
        user: user_name(Uid::from_raw(metadata.uid())),
        group: group_name(Gid::from_raw(metadata.gid())),
        uid: metadata.uid(),
        gid: metadata.gid(),
    }))
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, HostError> {
    let mut data = Vec::new();
    File::open(path)
        .and_then(|file| file.take(READ_BYTES_MAX + 1).read_to_end(&mut data))
        .map_err(|error| failed("read", path, &error))?;
    if data.len() as u64 > READ_BYTES_MAX {
        return Err(HostError::file("read", path, &format!("it is larger than {READ_BYTES_MAX} bytes")));
    }
    Ok(data)
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
pub(super) fn create_folders(folder: &Path, permissions: u32) -> Result<(), HostError> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_folders(parent, permissions)?;
    }
    let write_error = |error: io::Error| failed("create the directory", folder, &error);
    match DirBuilder::new().mode(permissions).create(folder) {
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(permissions)).map_err(write_error),
        // Created concurrently by another process.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(write_error(error)),
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Resolves names of users and groups. A number that is no name is taken as an ID.
fn find_owner(owner: &FileOwner) -> Result<(Option<Uid>, Option<Gid>), HostError> {
    let missing =
        |kind: &str, name: &str| HostError::Other(format!("{kind} `{name}` does not exist on this machine"));
    let user = owner.user.as_deref().map(|name| {
        let id = User::from_name(name).ok().flatten().map(|user| user.uid);
        id.or_else(|| name.parse().ok().map(Uid::from_raw)).ok_or_else(|| missing("user", name))
    });
    let group = owner.group.as_deref().map(|name| {
        let id = Group::from_name(name).ok().flatten().map(|group| group.gid);
        id.or_else(|| name.parse().ok().map(Gid::from_raw)).ok_or_else(|| missing("group", name))
    });
    Ok((user.transpose()?, group.transpose()?))
}

/// Sets the owner of a directory and of everything in it. Does not follow links.
pub(super) fn set_tree_owner(root: &Path, owner: &FileOwner) -> Result<(), HostError> {
    if owner.is_empty() {
        return Ok(());
    }
    let (user, group) = find_owner(owner)?;
    let mut paths = vec![root.to_owned()];
    while let Some(path) = paths.pop() {
        let error = |error: io::Error| failed("set the owner of", &path, &error);
        nix::unistd::fchownat(nix::fcntl::AT_FDCWD, &path, user, group, AtFlags::AT_SYMLINK_NOFOLLOW)
            .map_err(|errno| error(errno.into()))?;
        if fs::symlink_metadata(&path).map_err(error)?.is_dir() {
            for entry in fs::read_dir(&path).map_err(error)? {
                paths.push(entry.map_err(error)?.path());
            }
        }
    }
    Ok(())
}

fn user_name(uid: Uid) -> String {
    User::from_uid(uid).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name)
}

fn group_name(gid: Gid) -> String {
    Group::from_gid(gid).ok().flatten().map_or_else(|| gid.to_string(), |group| group.name)
}

fn failed(operation: &'static str, path: &Path, error: &io::Error) -> HostError {
    HostError::file(operation, path, &reason(error))
}

/// Returns the error text without the `(os error N)` suffix that Rust appends.
pub(super) fn reason(error: &io::Error) -> String {
    let text = ErrorChain(error).to_string();
    text.split_once(" (os error").map_or(text.clone(), |(text, _)| text.to_owned())
}
