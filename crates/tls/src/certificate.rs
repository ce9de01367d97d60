//! Parsed certificates.

use rustls::pki_types::CertificateDer;
use x509_parser::extensions::GeneralName;

use crate::{Fingerprint, TlsError, Validity};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Common name.
    pub subject: String,
    /// Host names and IP addresses of the subject alternative name.
    pub names: Vec<String>,
    /// Serial number in hexadecimal.
    pub serial: String,
    pub validity: Validity,
    pub fingerprint: Fingerprint,
    pub is_authority: bool,
}

impl Certificate {
    pub fn read(der: &CertificateDer<'_>) -> Result<Self, TlsError> {
        let (_, read) =
            x509_parser::parse_x509_certificate(der).map_err(|error| TlsError::Certificate(error.into()))?;
        let subject = read.subject().iter_common_name().next().and_then(|name| name.as_str().ok());
        let names = match read.subject_alternative_name() {
            Ok(Some(extension)) => extension.value.general_names.iter().filter_map(name_text).collect(),
            _ => Vec::new(),
        };
        Ok(Self {
            subject: subject.unwrap_or_default().to_owned(),
            names,
            serial: hex::encode(read.raw_serial()),
            validity: Validity {
                not_before: read.validity().not_before.timestamp(),
                not_after: read.validity().not_after.timestamp(),
            },
            fingerprint: Fingerprint::of(der),
            is_authority: read.is_ca(),
        })
    }

    /// Reads all certificates of a PEM file.
    pub fn read_file(path: &std::path::Path) -> Result<Vec<Self>, TlsError> {
        crate::files::read_certificates(path)?.iter().map(Self::read).collect()
    }
}

fn name_text(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match <[u8; 4]>::try_from(*bytes) {
            Ok(four) => Some(std::net::Ipv4Addr::from(four).to_string()),
            Err(_) => <[u8; 16]>::try_from(*bytes).ok().map(|all| std::net::Ipv6Addr::from(all).to_string()),
        },
        _ => None,
    }
}
