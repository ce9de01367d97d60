//! Why a package could not be read or written.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// What is wrong with an archive. Nothing of it is kept.
#[derive(Debug, Error)]
pub enum ArchiveError {
    #[error("this is {found}, not a plugin archive; `stoker plugin build` makes one")]
    OtherFormat { found: &'static str },
    #[error("the archive is damaged: {0}")]
    Damaged(String),
    #[error("the archive holds `{path}`: {reason}")]
    Forbidden { path: String, reason: String },
    #[error("the archive is too large: {0}")]
    TooLarge(String),
    #[error("checksums do not fit: {}", .0.join("; "))]
    Checksums(Vec<String>),
    #[error("the archive cannot be unpacked: {0}")]
    Environment(#[from] io::Error),
}

impl ArchiveError {
    /// Whether whoever sent the archive can do something about it.
    pub fn is_about_archive(&self) -> bool {
        !matches!(self, Self::Environment(_))
    }

    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged(reason.into())
    }

    pub(crate) fn forbidden(path: &str, reason: impl Into<String>) -> Self {
        let shown: String = path.chars().take(200).flat_map(char::escape_debug).collect();
        Self::Forbidden { path: shown, reason: reason.into() }
    }
}

/// What is wrong with a folder that should be a package.
#[derive(Debug, Error)]
pub enum FolderError {
    #[error("cannot read `{}`: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("`{}` cannot be part of a package: {reason}", path.display())]
    Unfit { path: PathBuf, reason: String },
    #[error("cannot write the archive: {0}")]
    Output(#[from] io::Error),
}
