//! TLS: the internal certificate authority, certificates of servers and agents, and whom to trust.
//!
//! Owns everything that knows what a certificate is, so that there is one provider of cryptography in the program and one
//! place to change it. Refuses to know who may have a certificate, and to read the clock: moments are arguments.

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

pub use authority::{Authority, Issued};
pub use certificate::Certificate;
pub use client::{AgentKey, ClientIdentity, Trust, client_config};
pub use error::TlsError;
pub use files::write_private;
pub use fingerprint::{Fingerprint, FingerprintError};
pub use names::{Name, NameError};
pub use server::{KeyPairFiles, ServerIdentity, server_config};
pub use validity::Validity;

/// The one provider of cryptography.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
