//! The internal certificate authority: a directory with a public certificate and a private key.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateSigningRequestParams, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SerialNumber,
};
use rustls::pki_types::{CertificateDer, CertificateSigningRequestDer, PrivateKeyDer, pem::PemObject as _};
use stoker_model::AgentUid;

use crate::files::{self, Readers};
use crate::{Certificate, Fingerprint, Name, TlsError, Validity};

/// Maximum size of a certificate signing request.
const REQUEST_BYTES_MAX: usize = 16 << 10;

/// Issues certificates.
pub struct CertificateAuthority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
}

/// An issued certificate with its chain.
pub struct IssuedCertificate {
    pub certificate: Certificate,
    /// PEM chain with the authority last, so that a peer that pins the authority's fingerprint needs no CA
    /// file.
    pub chain_pem: String,
    pub(crate) chain: Vec<CertificateDer<'static>>,
}

impl CertificateAuthority {
    pub const CERTIFICATE_FILE: &'static str = "ca.pem";
    pub const KEY_FILE: &'static str = "ca-key.pem";

    /// Creates an authority in a directory that does not contain one.
    pub fn create(folder: &Path, name: &str, validity: Validity) -> Result<Self, TlsError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let result = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        result.map_err(|source| TlsError::File {
            what: "create the directory",
            path: folder.to_owned(),
            source,
        })?;
        let (certificate_path, key_path) = paths(folder);
        if let Some(path) = [&certificate_path, &key_path].into_iter().find(|path| path.exists()) {
            return Err(TlsError::Exists { path: path.clone() });
        }
        let key = new_key()?;
        let mut params = params(name, validity)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(TlsError::making)?;
        // The key is written first: other programs look for the certificate, which is useless without its
        // key.
        files::write_new(&key_path, &key.serialize_pem(), Readers::Owner)?;
        files::write_new(&certificate_path, &certificate.pem(), Readers::AllUsers)?;
        let (pem, der) = (certificate.pem(), certificate.der().clone());
        Ok(Self { issuer: Issuer::new(params, key), certificate: der, pem })
    }

    pub fn open(folder: &Path) -> Result<Self, TlsError> {
        let (certificate_path, key_path) = paths(folder);
        if !certificate_path.exists() || !key_path.exists() {
            return Err(TlsError::NoAuthority { folder: folder.to_owned() });
        }
        files::require_private(&key_path)?;
        let no_key = || TlsError::nonsense(&key_path, "contains no private key in PEM format");
        let key_text = String::from_utf8(files::read(&key_path)?).map_err(|_| no_key())?;
        let key = KeyPair::from_pem(&key_text).map_err(|_| no_key())?;
        let pem = String::from_utf8_lossy(&files::read(&certificate_path)?).into_owned();
        let certificate = files::read_certificates(&certificate_path)?.swap_remove(0);
        let (_, read) = x509_parser::parse_x509_certificate(&certificate)
            .map_err(|_| TlsError::nonsense(&certificate_path, "contains no valid certificate"))?;
        if !read.is_ca() {
            return Err(TlsError::nonsense(&certificate_path, "is not a CA certificate"));
        }
        if read.public_key().subject_public_key.data.as_ref() != key.public_key_raw() {
            return Err(TlsError::nonsense(&key_path, "does not match the certificate next to it"));
        }
        let issuer = Issuer::from_ca_cert_der(&certificate, key)
            .map_err(|error| TlsError::nonsense_from(&certificate_path, "cannot be parsed", error))?;
        Ok(Self { issuer, certificate, pem })
    }

    /// Returns the CA certificate, to be trusted by clients.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }

    /// Issues a server certificate for these names. Returns it with its key.
    pub fn issue_server(
        &self,
        names: &[Name],
        validity: Validity,
    ) -> Result<(IssuedCertificate, String), TlsError> {
        let key = new_key()?;
        let common = names.first().map(ToString::to_string).unwrap_or_default();
        let mut params = params(&common, validity)?;
        let sans: Result<Vec<_>, _> = names.iter().map(Name::san).collect();
        params.subject_alt_names = sans.map_err(TlsError::making)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&key, &self.issuer).map_err(TlsError::making)?;
        Ok((self.issued(certificate.der().clone(), &certificate.pem())?, key.serialize_pem()))
    }

    /// Issues an agent certificate for a signing request. Only the key of the request is used.
    pub fn issue_agent(
        &self,
        request: &str,
        uid: &AgentUid,
        validity: Validity,
    ) -> Result<IssuedCertificate, TlsError> {
        let invalid_request = |reason: &str| TlsError::Request(reason.into());
        if request.len() > REQUEST_BYTES_MAX {
            return Err(invalid_request("it is too large"));
        }
        let request = CertificateSigningRequestDer::from_pem_slice(request.as_bytes())
            .map_err(|_| invalid_request("it must be a PKCS #10 request in PEM format"))?;
        let request = CertificateSigningRequestParams::from_der(&request)
            .map_err(|error| TlsError::Request(error.into()))?;
        if *request.public_key.algorithm() != PKCS_ECDSA_P256_SHA256 {
            return Err(invalid_request("its key must be ECDSA P-256"));
        }
        let mut params = params(uid.as_str(), validity)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&request.public_key, &self.issuer).map_err(TlsError::making)?;
        self.issued(certificate.der().clone(), &certificate.pem())
    }

    fn issued(&self, leaf: CertificateDer<'static>, pem: &str) -> Result<IssuedCertificate, TlsError> {
        let certificate = Certificate::read(&leaf)?;
        let chain_pem = format!("{}{}", with_newline(pem), with_newline(&self.pem));
        Ok(IssuedCertificate { certificate, chain_pem, chain: vec![leaf, self.certificate.clone()] })
    }
}

impl IssuedCertificate {
    /// Returns the chain and key for a listener.
    pub(crate) fn with_key(
        self,
        key_pem: &str,
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
        let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).map_err(TlsError::making)?;
        Ok((self.chain, key))
    }
}

fn with_newline(pem: &str) -> String {
    format!("{}\n", pem.trim_end())
}

fn paths(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join(CertificateAuthority::CERTIFICATE_FILE), folder.join(CertificateAuthority::KEY_FILE))
}

pub(crate) fn new_key() -> Result<KeyPair, TlsError> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(TlsError::making)
}

fn params(common_name: &str, validity: Validity) -> Result<CertificateParams, TlsError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    (params.not_before, params.not_after) = validity.date_times()?;
    // Serial numbers are unique per authority, even for the same key.
    let mut serial = [0; 16];
    getrandom::fill(&mut serial).map_err(TlsError::making)?;
    serial[0] = serial[0] & 0x3f | 0x40;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}
