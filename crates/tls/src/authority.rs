//! The internal certificate authority: a folder with a certificate that everybody may have and a key that nobody may.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateSigningRequestParams, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SerialNumber,
};
use rustls::pki_types::{CertificateDer, CertificateSigningRequestDer, PrivateKeyDer, pem::PemObject as _};

use crate::files::{self, Readers};
use crate::{Certificate, Fingerprint, Name, TlsError, Validity};

/// Larger requests for certificates are not looked at.
const REQUEST_BYTES_MAX: usize = 16 << 10;

/// Makes certificates that whoever trusts its own trusts.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
}

/// A certificate with the chain to its authority, and its key if that was made here.
pub struct Issued {
    pub certificate: Certificate,
    /// In PEM form, the authority last: whoever knows that by its fingerprint needs no file.
    pub chain_pem: String,
    pub(crate) chain: Vec<CertificateDer<'static>>,
}

impl Authority {
    pub const CERTIFICATE_FILE: &'static str = "ca.pem";
    pub const KEY_FILE: &'static str = "ca-key.pem";

    /// Makes a folder an authority that it is not yet.
    pub fn create(folder: &Path, name: &str, validity: Validity) -> Result<Self, TlsError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|source| TlsError::File { what: "make the folder", path: folder.to_owned(), source })?;
        let (certificate_path, key_path) = paths(folder);
        if let Some(path) = [&certificate_path, &key_path].into_iter().find(|path| path.exists()) {
            return Err(TlsError::Exists { path: path.clone() });
        }
        let key = new_key()?;
        let mut params = params(name, validity)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(TlsError::making)?;
        // The key first: a certificate without its key is of no use, and is what others look for.
        files::write_new(&key_path, &key.serialize_pem(), Readers::Owner)?;
        files::write_new(&certificate_path, &certificate.pem(), Readers::Everybody)?;
        let (pem, der) = (certificate.pem(), certificate.der().clone());
        Ok(Self { issuer: Issuer::new(params, key), certificate: der, pem })
    }

    pub fn open(folder: &Path) -> Result<Self, TlsError> {
        let (certificate_path, key_path) = paths(folder);
        if !certificate_path.exists() || !key_path.exists() {
            return Err(TlsError::NoAuthority { folder: folder.to_owned() });
        }
        files::require_private(&key_path)?;
        let nonsense = |path: &Path, reason: &str| TlsError::Nonsense {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        let no_key = || nonsense(&key_path, "holds no private key in PEM form");
        let key_text = String::from_utf8(files::read(&key_path)?).map_err(|_| no_key())?;
        let key = KeyPair::from_pem(&key_text).map_err(|_| no_key())?;
        let pem = String::from_utf8_lossy(&files::read(&certificate_path)?).into_owned();
        let certificate = files::read_certificates(&certificate_path)?.swap_remove(0);
        let (_, read) = x509_parser::parse_x509_certificate(&certificate)
            .map_err(|_| nonsense(&certificate_path, "holds no certificate that can be understood"))?;
        if !read.is_ca() {
            return Err(nonsense(&certificate_path, "is no certificate of an authority"));
        }
        if read.public_key().subject_public_key.data.as_ref() != key.public_key_raw() {
            return Err(nonsense(&key_path, "is not the key of the certificate beside it"));
        }
        let issuer = Issuer::from_ca_cert_der(&certificate, key)
            .map_err(|error| nonsense(&certificate_path, &error.to_string()))?;
        Ok(Self { issuer, certificate, pem })
    }

    /// Its certificate, for those who shall trust it.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }

    /// A certificate for a server that is reached under these names, and its key.
    pub fn issue_server(&self, names: &[Name], validity: Validity) -> Result<(Issued, String), TlsError> {
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

    /// A certificate for the agent that made this request. What the request says of itself counts for nothing but its key.
    pub fn issue_agent(&self, request: &str, uid: &str, validity: Validity) -> Result<Issued, TlsError> {
        let wrong = |reason: &str| TlsError::Request(reason.to_owned());
        if request.len() > REQUEST_BYTES_MAX {
            return Err(wrong("it is too long"));
        }
        let request = CertificateSigningRequestDer::from_pem_slice(request.as_bytes())
            .map_err(|_| wrong("it must be a PKCS #10 request in PEM form"))?;
        let request = CertificateSigningRequestParams::from_der(&request)
            .map_err(|error| TlsError::Request(error.to_string()))?;
        if *request.public_key.algorithm() != PKCS_ECDSA_P256_SHA256 {
            return Err(wrong("its key must be of the kind ECDSA P-256"));
        }
        let mut params = params(uid, validity)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&request.public_key, &self.issuer).map_err(TlsError::making)?;
        self.issued(certificate.der().clone(), &certificate.pem())
    }

    fn issued(&self, leaf: CertificateDer<'static>, pem: &str) -> Result<Issued, TlsError> {
        let certificate = Certificate::read(&leaf)?;
        let chain_pem = format!("{}{}", ended(pem), ended(&self.pem));
        Ok(Issued { certificate, chain_pem, chain: vec![leaf, self.certificate.clone()] })
    }
}

impl Issued {
    /// For a listener.
    pub(crate) fn with_key(
        self,
        key_pem: &str,
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
        let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).map_err(TlsError::making)?;
        Ok((self.chain, key))
    }
}

fn ended(pem: &str) -> String {
    format!("{}\n", pem.trim_end())
}

fn paths(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join(Authority::CERTIFICATE_FILE), folder.join(Authority::KEY_FILE))
}

pub(crate) fn new_key() -> Result<KeyPair, TlsError> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(TlsError::making)
}

fn params(common_name: &str, validity: Validity) -> Result<CertificateParams, TlsError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    (params.not_before, params.not_after) = validity.moments()?;
    // Two certificates of one authority never have the same number, also not for the same key.
    let mut serial = [0; 16];
    getrandom::fill(&mut serial).map_err(TlsError::making)?;
    serial[0] = serial[0] & 0x3f | 0x40;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}
