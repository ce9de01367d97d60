//! Certificate and key files.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::TlsError;

/// Permission bits of users other than owner and group.
const OTHERS: u32 = 0o007;

/// Read permission of a file: all users, or only its owner.
#[derive(Clone, Copy)]
pub(crate) enum Readers {
    Owner,
    AllUsers,
}

/// Atomically creates a file that must not exist.
pub(crate) fn write_new(path: &Path, text: &str, readers: Readers) -> Result<(), TlsError> {
    let mode = match readers {
        Readers::Owner => 0o600,
        Readers::AllUsers => 0o644,
    };
    let temporary = path.with_extension("new");
    let write = || {
        _ = fs::remove_file(&temporary);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        // Unlike a rename, a hard link fails if the name is taken.
        let link_result = fs::hard_link(&temporary, path);
        fs::remove_file(&temporary)?;
        link_result?;
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

/// Atomically replaces a file that contains a private key, with mode 0600.
pub fn write_private(path: &Path, text: &str) -> Result<(), TlsError> {
    let temporary = path.with_extension("new");
    let write = || {
        _ = fs::remove_file(&temporary);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|source| TlsError::File { what: "write", path: path.to_owned(), source })
}

pub(crate) fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(path)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates = read.map_err(|error| TlsError::nonsense_from(path, "cannot be parsed", error))?;
    if certificates.is_empty() {
        return Err(TlsError::nonsense(path, "contains no certificate in PEM format"));
    }
    Ok(certificates)
}

pub(crate) fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = read(path)?;
    require_private(path)?;
    PrivateKeyDer::from_pem_slice(&text)
        .map_err(|error| TlsError::nonsense_from(path, "contains no private key in PEM format", error))
}

pub(crate) fn require_private(path: &Path) -> Result<(), TlsError> {
    let metadata = fs::metadata(path);
    let metadata =
        metadata.map_err(|source| TlsError::File { what: "read", path: path.to_owned(), source })?;
    // Access for the group may be intended; access for all users is a mistake.
    let others = metadata.permissions().mode() & OTHERS;
    if others == 0 { Ok(()) } else { Err(TlsError::NotPrivate { path: path.to_owned() }) }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::File { what: "read", path: path.to_owned(), source })
}
