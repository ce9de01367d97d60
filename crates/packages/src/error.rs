//! Errors of reading and writing packages.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Reason why an archive was rejected. A rejected archive leaves no files behind.
#[derive(Debug, Error)]
pub enum ArchiveError {
    #[error("this is {format}, not a plugin archive; create one with `stoker plugin build`")]
    OtherFormat { format: &'static str },
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

/// Reason why the package repository of a plugin cannot index a file.
#[derive(Debug, Error)]
pub enum PackageFileError {
    #[error("cannot read it: {0}")]
    Read(#[source] io::Error),
    #[error("cannot unpack its control archive: {0}")]
    ControlArchive(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("{0}")]
    Invalid(String),
}

/// Error while reading or packing a directory as a package.
#[derive(Debug, Error)]
pub enum FolderError {
    #[error("cannot read `{}`: {error}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("cannot pack `{}`: {source}", path.display())]
    Package { path: PathBuf, source: PackageFileError },
    #[error("cannot pack `{}`: {reason}", path.display())]
    NotPackable { path: PathBuf, reason: String },
    #[error("cannot write the archive: {0}")]
    Output(#[from] io::Error),
}
