//! Certificates and keys in files.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::TlsError;

/// What everybody else may do, in the mode of a file.
const OTHERS: u32 = 0o007;

/// What others may do with a file.
#[derive(Clone, Copy)]
pub(crate) enum Readers {
    Owner,
    Everybody,
}

/// Writes a file that is not there yet, whole or not at all.
pub(crate) fn write_new(path: &Path, text: &str, readers: Readers) -> Result<(), TlsError> {
    let mode = match readers {
        Readers::Owner => 0o600,
        Readers::Everybody => 0o644,
    };
    let beside = path.with_extension("new");
    let write = || {
        _ = fs::remove_file(&beside);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        // A link fails where a name is taken, which a rename would not.
        let linked = fs::hard_link(&beside, path);
        fs::remove_file(&beside)?;
        linked?;
        match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => File::open(parent)?.sync_all(),
            None => Ok(()),
        }
    };
    write().map_err(|source: std::io::Error| {
        if source.kind() == std::io::ErrorKind::AlreadyExists {
            TlsError::Exists { path: path.to_owned() }
        } else {
            TlsError::File { what: "write", path: path.to_owned(), source }
        }
    })
}

/// Writes a certificate and its key; what was there is replaced. Nobody else may read the key.
pub fn write_private(path: &Path, text: &str) -> Result<(), TlsError> {
    let beside = path.with_extension("new");
    let write = || {
        _ = fs::remove_file(&beside);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|source| TlsError::File { what: "write", path: path.to_owned(), source })
}

pub(crate) fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(path)?;
    let nonsense = |reason: String| TlsError::Nonsense { path: path.to_owned(), reason };
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = read.map_err(|error| nonsense(format!("cannot be understood: {error}")))?;
    if found.is_empty() {
        return Err(nonsense("holds no certificate in PEM form".to_owned()));
    }
    Ok(found)
}

pub(crate) fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = read(path)?;
    require_private(path)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| TlsError::Nonsense {
        path: path.to_owned(),
        reason: format!("holds no private key in PEM form: {error}"),
    })
}

pub(crate) fn require_private(path: &Path) -> Result<(), TlsError> {
    let found = fs::metadata(path);
    let found = found.map_err(|source| TlsError::File { what: "read", path: path.to_owned(), source })?;
    // A group may be let in on purpose; everybody is a mistake.
    let everybody = found.permissions().mode() & OTHERS;
    if everybody == 0 { Ok(()) } else { Err(TlsError::NotPrivate { path: path.to_owned() }) }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::File { what: "read", path: path.to_owned(), source })
}
