//! What is at a path.

use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    pub kind: FileKind,
    /// Permission bits, including set-user-id, set-group-id and sticky.
    pub permissions: u32,
    /// Name of the owner, or its number if it has no name.
    pub user: String,
    pub group: String,
    pub uid: u32,
    pub gid: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    File {
        n_bytes: u64,
    },
    Directory,
    Link {
        target: PathBuf,
    },
    /// A device, socket or pipe.
    Special,
}

impl FileKind {
    /// Returns the name for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::File { .. } => "a file",
            Self::Directory => "a directory",
            Self::Link { .. } => "a symbolic link",
            Self::Special => "a device, socket or pipe",
        }
    }
}
