//! TLS: the internal certificate authority, server and agent certificates, and trust configuration.
//!
//! The only crate that parses and issues certificates, so the program has a single cryptography provider. It
//! does not decide which clients may get a certificate, and it does not read the clock: timestamps are
//! arguments.

mod authority;
mod certificate;
mod client;
mod error;
mod files;
mod fingerprint;
mod names;
mod server;
mod validity;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

pub use authority::{CertificateAuthority, IssuedCertificate};
pub use certificate::Certificate;
pub use client::{AgentKey, ClientIdentity, Trust, client_config};
pub use error::TlsError;
pub use files::write_private;
pub use fingerprint::{Fingerprint, FingerprintError};
pub use names::{Name, NameError};
pub use server::{KeyPairFiles, ServerIdentity, server_config};
pub use validity::Validity;

/// Returns the cryptography provider of the whole program.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
