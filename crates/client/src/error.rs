//! Client errors.

use std::fmt;

use serde::Deserialize;
use stoker_model::ErrorChain;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ClientError {
    #[error("`{url}` is not a server address: {why}")]
    Address { url: String, why: String },
    #[error("cannot use the certificates in `{file}`: {source}")]
    Certificates { file: String, source: CertificatesError },
    #[error("cannot configure TLS: {0}")]
    Tls(#[source] rustls::Error),
    /// Transient: a retry may succeed.
    #[error("cannot reach the server at {server}: {}", ErrorChain(&**source))]
    Unreachable { server: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("{server} is not a Stoker server: {why}")]
    InvalidResponse { server: String, why: String },
    #[error("{0}")]
    Rejected(Box<ErrorResponse>),
}

/// Error while reading a file with certificates.
#[derive(Debug, Error)]
pub enum CertificatesError {
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error(transparent)]
    Pem(#[from] rustls::pki_types::pem::Error),
    #[error("it contains no certificate in PEM format")]
    Empty,
}

/// Error response of the server with all reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorResponse {
    pub status: u16,
    /// Human-readable summary.
    pub message: String,
    pub errors: Vec<Reason>,
}

/// One reason of an error response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Reason {
    /// Path in the request document, such as `tasks[3].requires`; empty for the whole document.
    pub path: String,
    pub message: String,
    /// Line in the request body, from 1.
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// `error` or `warning`; `None` means `error`.
    pub severity: Option<String>,
    /// File that the layer was uploaded from.
    pub file: Option<String>,
    pub layer: Option<String>,
    pub code: Option<String>,
    pub help: Option<String>,
    pub task: Option<String>,
    pub nodes: Vec<String>,
}

impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[derive(Deserialize)]
struct Envelope {
    message: String,
    #[serde(default)]
    errors: Vec<Reason>,
}

/// Error format of the Keystone API.
#[derive(Deserialize)]
struct KeystoneEnvelope {
    error: KeystoneError,
}

#[derive(Deserialize)]
struct KeystoneError {
    message: String,
}

/// Error format of the module API: one key, named after the kind of error.
type ModuleEnvelope = std::collections::BTreeMap<String, KeystoneError>;

impl ErrorResponse {
    /// Parses any of the error formats; falls back to the first line of the body.
    pub(crate) fn read(status: u16, body: &[u8]) -> Self {
        if let Ok(Envelope { message, errors }) = serde_json::from_slice(body) {
            return Self { status, message, errors };
        }
        if let Ok(envelope) = serde_json::from_slice::<ModuleEnvelope>(body)
            && let [KeystoneError { message }] = envelope.into_values().collect::<Vec<_>>().as_slice()
            && !body.starts_with(br#"{"error""#)
        {
            return Self { status, message: message.clone(), errors: Vec::new() };
        }
        let keystone: Result<KeystoneEnvelope, _> = serde_json::from_slice(body);
        let message = keystone.map_or_else(|_| first_line(body), |envelope| envelope.error.message);
        Self { status, message: format!("status {status}: {message}"), errors: Vec::new() }
    }
}

/// Returns the first line of a plain-text error, for example from a proxy; HTML is not shown.
fn first_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let first: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
    let is_page = first.trim_start().starts_with('<');
    if first.is_empty() || is_page { "no details".to_owned() } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_error_formats_have_a_message() {
        let refusal = ErrorResponse::read(
            400,
            br#"{"message": "m", "errors": [{"path": "a", "line": 2, "message": "x", "id": 4}]}"#,
        );
        assert_eq!((refusal.message.as_str(), refusal.errors[0].line), ("m", Some(2)));
        let message = |body: &[u8]| ErrorResponse::read(502, body).message;
        assert_eq!(
            message(br#"{"badRequest": {"code": 400, "message": "no such module"}}"#),
            "no such module"
        );
        assert_eq!(message(br#"{"error": {"code": 401, "message": "no"}}"#), "status 502: no");
        assert_eq!(message(b"bad gateway\nmore"), "status 502: bad gateway");
        assert_eq!(message(b"<html>"), "status 502: no details");
        assert_eq!(message(b""), "status 502: no details");
        assert_eq!(message(&[0xff, 0xfe]), "status 502: \u{fffd}\u{fffd}");
    }
}
