//! Errors about certificates and keys.

use std::io;
use std::path::PathBuf;

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
    InvalidFile { path: PathBuf, reason: String },
    #[error("invalid certificate signing request: {0}")]
    Request(String),
    #[error("invalid certificate: {0}")]
    Certificate(String),
    #[error("cannot create a certificate: {0}")]
    Issue(String),
    #[error("cannot use TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl TlsError {
    pub(crate) fn making(error: impl std::fmt::Display) -> Self {
        Self::Issue(error.to_string())
    }
}
