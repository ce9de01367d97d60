//! TLS servers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::RwLock;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{OtherError, RootCertStore, ServerConfig};

use crate::{Certificate, CertificateAuthority, IssuedCertificate, TlsError, Validity, files, provider};

/// Certificate and key files that are managed and renewed externally.
#[derive(Clone, Debug)]
pub struct KeyPairFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl KeyPairFiles {
    /// Returns the modification times, to detect renewal.
    pub fn written_at(&self) -> (Option<SystemTime>, Option<SystemTime>) {
        let written = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        (written(&self.certificate), written(&self.key))
    }
}

/// Server certificate that can be replaced while connections are open.
#[derive(Debug)]
pub struct ServerIdentity {
    current: RwLock<(Arc<CertifiedKey>, Validity)>,
}

impl ServerIdentity {
    pub fn from_files(files: &KeyPairFiles) -> Result<Self, TlsError> {
        Ok(Self { current: RwLock::new(read(files)?) })
    }

    pub fn from_issued(issued: IssuedCertificate, key_pem: &str) -> Result<Self, TlsError> {
        Ok(Self { current: RwLock::new(from_issued_pair(issued, key_pem)?) })
    }

    /// Reloads the files for new connections. On error the current certificate stays in use.
    pub fn reload(&self, files: &KeyPairFiles) -> Result<(), TlsError> {
        let new = read(files)?;
        *self.current.write() = new;
        Ok(())
    }

    /// Replaces the certificate for new connections.
    pub fn replace(&self, issued: IssuedCertificate, key_pem: &str) -> Result<(), TlsError> {
        let new = from_issued_pair(issued, key_pem)?;
        *self.current.write() = new;
        Ok(())
    }

    pub fn validity(&self) -> Validity {
        self.current.read().1
    }
}

impl ResolvesServerCert for ServerIdentity {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().0))
    }
}

/// Returns a TLS server configuration. A client certificate is verified if presented; callers decide which
/// clients must have one.
pub fn server_config(
    identity: Arc<ServerIdentity>,
    clients: Option<&CertificateAuthority>,
) -> Result<ServerConfig, TlsError> {
    let provider = provider();
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let mut config = match clients {
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.certificate().clone())?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| rustls::Error::Other(OtherError(Arc::new(error))))?;
            builder.with_client_cert_verifier(verifier)
        }
        None => builder.with_no_client_auth(),
    }
    .with_cert_resolver(identity);
    // Session resumption would bypass the verification of the client certificate.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn from_issued_pair(
    issued: IssuedCertificate,
    key_pem: &str,
) -> Result<(Arc<CertifiedKey>, Validity), TlsError> {
    let (chain, key) = issued.with_key(key_pem)?;
    certified(chain, key)
}

fn read(files: &KeyPairFiles) -> Result<(Arc<CertifiedKey>, Validity), TlsError> {
    let chain = files::read_certificates(&files.certificate)?;
    let key = files::read_key(&files.key)?;
    certified(chain, key).map_err(|error| match error {
        TlsError::Tls(error) => {
            let reason = format!("does not match `{}`", files.certificate.display());
            TlsError::nonsense_from(&files.key, &reason, error)
        }
        other => other,
    })
}

fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<(Arc<CertifiedKey>, Validity), TlsError> {
    let leaf = chain.first().ok_or_else(|| TlsError::Certificate("the chain is empty".into()))?;
    let validity = Certificate::read(leaf)?.validity;
    Ok((Arc::new(CertifiedKey::from_der(chain, key, &provider())?), validity))
}
