//! What can be wrong with certificates and keys.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot {what} `{}`: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("`{}` is there already; a second authority would make every certificate of the first useless", path.display())]
    Exists { path: PathBuf },
    #[error("there is no certificate authority in `{}`; make one with `stoker ca init --dir {}`", folder.display(), folder.display())]
    NoAuthority { folder: PathBuf },
    #[error("`{}` can be read by everybody on this machine; take that away (`chmod 600`)", path.display())]
    NotPrivate { path: PathBuf },
    #[error("`{}` {reason}", path.display())]
    Nonsense { path: PathBuf, reason: String },
    #[error("the request for a certificate makes no sense: {0}")]
    Request(String),
    #[error("the certificate makes no sense: {0}")]
    Certificate(String),
    #[error("cannot make a certificate: {0}")]
    Making(String),
    #[error("cannot use TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl TlsError {
    pub(crate) fn making(error: impl std::fmt::Display) -> Self {
        Self::Making(error.to_string())
    }
}
