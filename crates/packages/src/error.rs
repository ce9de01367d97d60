//! Errors of reading and writing packages.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why an archive was rejected. Nothing of it is stored.
#[derive(Debug, Error)]
pub enum ArchiveError {
    #[error("this is {found}, not a plugin archive; create one with `stoker plugin build`")]
    OtherFormat { found: &'static str },
    #[error("the archive is corrupt: {0}")]
    Corrupt(String),
    #[error("invalid archive member `{path}`: {reason}")]
    InvalidMember { path: String, reason: String },
    #[error("the archive is too large: {0}")]
    TooLarge(String),
    #[error("checksum verification failed: {}", .0.join("; "))]
    Checksums(Vec<String>),
    #[error("cannot unpack the archive: {0}")]
    Environment(#[from] io::Error),
}

impl ArchiveError {
    /// Reports whether the archive itself is at fault, rather than the environment.
    pub fn is_archive_fault(&self) -> bool {
        !matches!(self, Self::Environment(_))
    }

    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Corrupt(reason.into())
    }

    pub(crate) fn forbidden(path: &str, reason: impl Into<String>) -> Self {
        let escaped: String = path.chars().take(200).flat_map(char::escape_debug).collect();
        Self::InvalidMember { path: escaped, reason: reason.into() }
    }
}

/// Why a folder cannot be read or packed as a package.
#[derive(Debug, Error)]
pub enum FolderError {
    #[error("cannot read `{}`: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("cannot pack `{}`: {reason}", path.display())]
    NotPackable { path: PathBuf, reason: String },
    #[error("cannot write the archive: {0}")]
    Output(#[from] io::Error),
}
