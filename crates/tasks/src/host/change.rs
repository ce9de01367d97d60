//! Changes of a host.

use std::fmt;
use std::path::PathBuf;

use super::{ArchiveToUnpack, Command, UnitChange};

/// A single change. Each is idempotent, except `Run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostChange {
    /// Replaces a file atomically.
    Write(FileToWrite),
    /// Overwrites a file in place; for files of the kernel, which cannot be replaced.
    Overwrite {
        path: PathBuf,
        data: Vec<u8>,
    },
    /// Creates a directory and its missing parents.
    CreateDirectory {
        path: PathBuf,
        permissions: u32,
    },
    SetPermissions {
        path: PathBuf,
        permissions: u32,
    },
    SetOwner {
        path: PathBuf,
        owner: FileOwner,
    },
    /// Replaces a symbolic link atomically.
    Link {
        path: PathBuf,
        target: PathBuf,
    },
    /// Removes a file, or a link but not its target.
    Remove(PathBuf),
    /// Removes a directory with its contents. Does not follow links.
    RemoveTree(PathBuf),
    /// Replaces a directory by the content of an archive.
    Unpack(ArchiveToUnpack),
    Unit {
        name: String,
        change: UnitChange,
    },
    /// Lets systemd read all unit files again.
    ReloadUnits,
    /// Runs a program; an exit code other than 0 is a failure.
    Run(Command),
}

/// File to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToWrite {
    pub path: PathBuf,
    pub data: Vec<u8>,
    pub permissions: u32,
    /// Mode of missing parent directories, which are created; `None` means that the directory must exist.
    pub parents: Option<u32>,
    pub owner: FileOwner,
    /// Shell command that must succeed before the file is replaced; `%s` is the path of the new file.
    pub validate: Option<String>,
    /// Whether the previous file is kept under another name.
    pub keeps_backup: bool,
}

/// User and group, by name or number. Without them the owner of the process, or of an existing file, remains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOwner {
    pub user: Option<String>,
    pub group: Option<String>,
}

impl FileToWrite {
    pub fn new(path: PathBuf, data: Vec<u8>, permissions: u32) -> Self {
        Self {
            path,
            data,
            permissions,
            parents: None,
            owner: FileOwner::default(),
            validate: None,
            keeps_backup: false,
        }
    }
}

impl FileOwner {
    pub fn is_empty(&self) -> bool {
        self.user.is_none() && self.group.is_none()
    }
}

/// `user:group`; an absent part is empty.
impl fmt::Display for FileOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.user.as_deref().unwrap_or_default())?;
        self.group.as_ref().map_or(Ok(()), |group| write!(f, ":{group}"))
    }
}

/// Description without contents, which may be secret.
impl fmt::Display for HostChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(file) => write!(
                f,
                "write {}: {} bytes, mode {:04o}",
                file.path.display(),
                file.data.len(),
                file.permissions
            ),
            Self::Overwrite { path, data } => write!(f, "overwrite {}: {} bytes", path.display(), data.len()),
            Self::CreateDirectory { path, permissions } => {
                write!(f, "create the directory {}, mode {permissions:04o}", path.display())
            }
            Self::SetPermissions { path, permissions } => {
                write!(f, "set the mode of {} to {permissions:04o}", path.display())
            }
            Self::SetOwner { path, owner } => write!(f, "set the owner of {} to {owner}", path.display()),
            Self::Link { path, target } => write!(f, "link {} to {}", path.display(), target.display()),
            Self::Remove(path) => write!(f, "remove {}", path.display()),
            Self::RemoveTree(path) => write!(f, "remove {} with its contents", path.display()),
            Self::Unpack(archive) => write!(f, "unpack {} to {}", archive.source, archive.dest.display()),
            Self::Unit { name, change } => write!(f, "{change} {name}"),
            Self::ReloadUnits => f.write_str("reload the unit files of systemd"),
            Self::Run(command) => write!(f, "run: {}", command.display()),
        }
    }
}
