//! Trusted certificates.

use std::path::Path;
use std::sync::Arc;

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};

use crate::error::ClientError;

/// Trusts the system roots and the certificates of a file.
pub(crate) fn config(ca_file: Option<&Path>) -> Result<TlsConfig, ClientError> {
    let mut trusted: Vec<Certificate<'static>> = rustls_native_certs::load_native_certs()
        .certs
        .iter()
        .map(|certificate| Certificate::from_der(certificate).to_owned())
        .collect();
    if let Some(path) = ca_file {
        trusted.extend(read(path)?);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(provider)
        .root_certs(RootCerts::new_with_certs(&trusted))
        .build())
}

/// All certificates of a PEM file. A file without any is an error.
pub(crate) fn read(path: &Path) -> Result<Vec<Certificate<'static>>, ClientError> {
    let invalid = |why: String| ClientError::Certificates { file: path.display().to_string(), why };
    let pem = std::fs::read(path).map_err(|error| invalid(error.to_string()))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| invalid(error.to_string()))? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(invalid("it contains no certificate in PEM format".to_owned()));
    }
    Ok(certificates)
}
