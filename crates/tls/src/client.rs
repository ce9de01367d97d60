//! TLS clients: trust and identity.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::RwLock;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme,
};

use crate::authority::new_key;
use crate::{Certificate, Fingerprint, TlsError, Validity, files, provider};

/// Trust anchors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// System roots and the certificates of a file.
    System { file: Option<PathBuf> },
    /// Trust the CA with this fingerprint; the server sends the CA certificate in its chain.
    Pinned(Fingerprint),
}

/// Returns a TLS client configuration.
pub fn client_config(trust: &Trust, identity: Option<Arc<ClientIdentity>>) -> Result<ClientConfig, TlsError> {
    let provider = provider();
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let builder = match trust {
        Trust::System { file } => {
            let mut roots = RootCertStore::empty();
            for certificate in rustls_native_certs::load_native_certs().certs {
                // Some systems ship certificates that cannot be parsed.
                _ = roots.add(certificate);
            }
            if let Some(path) = file {
                for certificate in files::read_certificates(path)? {
                    roots.add(certificate)?;
                }
            }
            builder.with_root_certificates(roots)
        }
        Trust::Pinned(pin) => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Pinned { pin: *pin, provider }))
        }
    };
    let mut config = match identity {
        Some(identity) => builder.with_client_cert_resolver(identity),
        None => builder.with_no_client_auth(),
    };
    // Session resumption would keep using the client certificate of the first handshake.
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// Trusts one authority as if it came from a file: names, validity and signatures are verified as well.
#[derive(Debug)]
struct Pinned {
    pin: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let root = intermediates.iter().find(|certificate| Fingerprint::of(certificate) == self.pin);
        let root = root.ok_or(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer))?;
        let mut roots = RootCertStore::empty();
        roots.add(root.clone().into_owned())?;
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&self.provider))
                .build()
                .map_err(|error| rustls::Error::Other(OtherError(Arc::new(error))))?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Private key of an agent, which never leaves its host.
pub struct AgentKey {
    key: KeyPair,
}

impl AgentKey {
    pub fn new() -> Result<Self, TlsError> {
        Ok(Self { key: new_key()? })
    }

    /// Returns the certificate signing request in PEM format.
    pub fn request(&self) -> Result<String, TlsError> {
        let mut params = CertificateParams::default();
        // The issuer decides the subject.
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "agent");
        let request = params.serialize_request(&self.key).map_err(TlsError::making)?;
        request.pem().map_err(TlsError::making)
    }

    pub fn pem(&self) -> String {
        self.key.serialize_pem()
    }
}

/// Client certificate that can be replaced while connections are open.
#[derive(Debug, Default)]
pub struct ClientIdentity {
    current: RwLock<Option<Current>>,
}

#[derive(Debug)]
struct Current {
    key: Arc<CertifiedKey>,
    validity: Validity,
}

impl ClientIdentity {
    /// Sets chain and key, in PEM format, for new connections.
    pub fn set(&self, chain: &str, key: &str) -> Result<Validity, TlsError> {
        let invalid = |reason: &str| TlsError::Certificate(reason.into());
        let leaf = CertificateDer::pem_slice_iter(chain.as_bytes()).next();
        let leaf = leaf.and_then(Result::ok).ok_or_else(|| invalid("it is not in PEM format"))?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|_| invalid("its key is not in PEM format"))?;
        let validity = Certificate::read(&leaf)?.validity;
        let key = CertifiedKey::from_der(vec![leaf], key, &provider())?;
        *self.current.write() = Some(Current { key: Arc::new(key), validity });
        Ok(validity)
    }

    /// Returns the validity of the current certificate.
    pub fn validity(&self) -> Option<Validity> {
        self.current.read().as_ref().map(|current| current.validity)
    }

    /// Removes the certificate: a certificate that servers reject is worse than none.
    pub fn clear(&self) {
        *self.current.write() = None;
    }
}

impl ResolvesClientCert for ClientIdentity {
    fn resolve(&self, _hints: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let current = self.current.read();
        current.as_ref().map(|current| Arc::clone(&current.key))
    }

    fn has_certs(&self) -> bool {
        self.validity().is_some()
    }
}
