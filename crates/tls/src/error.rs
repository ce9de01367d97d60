//! Errors about certificates and keys.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

type BoxedError = Box<dyn Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot {what} `{}`: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("`{}` already exists; a new authority would invalidate all certificates of the existing one", path.display())]
    Exists { path: PathBuf },
    #[error("no certificate authority in `{}`; create one with `stoker ca init --dir {}`", folder.display(), folder.display())]
    NoAuthority { folder: PathBuf },
    #[error("`{}` is readable by all users; restrict it with `chmod 600`", path.display())]
    NotPrivate { path: PathBuf },
    #[error("`{}` {reason}", path.display())]
    InvalidFile { path: PathBuf, reason: String, source: Option<BoxedError> },
    #[error("invalid certificate signing request: {0}")]
    Request(#[source] BoxedError),
    #[error("invalid certificate: {0}")]
    Certificate(#[source] BoxedError),
    #[error("cannot create a certificate: {0}")]
    Issue(#[source] BoxedError),
    #[error("cannot use TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl TlsError {
    /// Returns the error for a file whose content cannot be used.
    pub(crate) fn nonsense(path: &Path, reason: &str) -> Self {
        Self::InvalidFile { path: path.to_owned(), reason: reason.to_owned(), source: None }
    }

    /// Like [`TlsError::nonsense`], caused by another error.
    pub(crate) fn nonsense_from(path: &Path, reason: &str, source: impl Into<BoxedError>) -> Self {
        let source = source.into();
        Self::InvalidFile {
            path: path.to_owned(),
            reason: format!("{reason}: {source}"),
            source: Some(source),
        }
    }

    pub(crate) fn making(error: impl Into<BoxedError>) -> Self {
        Self::Issue(error.into())
    }
}
