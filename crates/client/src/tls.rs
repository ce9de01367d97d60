//! Trusted certificates.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use crate::error::{CertificatesError, ClientError};

/// Returns the configuration of the blocking client, which trusts the system roots and the certificates of a
/// file.
pub(crate) fn config(ca_file: Option<&Path>) -> Result<TlsConfig, ClientError> {
    let trusted = trusted(ca_file)?;
    let trusted: Vec<Certificate<'static>> =
        trusted.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(provider())
        .root_certs(RootCerts::new_with_certs(&trusted))
        .build())
}

/// Returns the configuration of the asynchronous client, with the same trust.
pub(crate) fn client_config(ca_file: Option<&Path>) -> Result<Arc<ClientConfig>, ClientError> {
    let mut roots = RootCertStore::empty();
    // Some systems ship roots that rustls cannot parse; they are skipped.
    roots.add_parsable_certificates(trusted(ca_file)?);
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(ClientError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn trusted(ca_file: Option<&Path>) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    let mut trusted = rustls_native_certs::load_native_certs().certs;
    if let Some(path) = ca_file {
        let read = read(path);
        trusted.extend(
            read.map_err(|source| ClientError::Certificates { file: path.display().to_string(), source })?,
        );
    }
    Ok(trusted)
}

/// Reads all certificates of a PEM file. A file without certificates is an error.
fn read(path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificatesError> {
    let pem = std::fs::read(path)?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>()?;
    if certificates.is_empty() { Err(CertificatesError::Empty) } else { Ok(certificates) }
}
