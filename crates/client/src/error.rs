//! Why there is no answer.

use std::fmt;

use serde::Deserialize;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ClientError {
    #[error("`{url}` is no address of a server: {why}")]
    Address { url: String, why: String },
    #[error("cannot use the certificates in `{file}`: {why}")]
    Certificates { file: String, why: String },
    /// Trying again may help.
    #[error("the server at {server} does not answer: {why}")]
    Away { server: String, why: String },
    #[error("{server} is no Stoker server: {why}")]
    Strange { server: String, why: String },
    #[error("{0}")]
    Refused(Box<Refusal>),
}

/// The server's no, with every reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    /// A readable sum of all reasons.
    pub message: String,
    pub errors: Vec<Reason>,
}

/// One of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Reason {
    /// Where in the document: `tasks[3].requires`; empty for the whole.
    pub path: String,
    pub message: String,
    /// In the body as it was sent, from 1.
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// `error` or `warning`; errors of servers that do not say.
    pub severity: Option<String>,
    /// The file that a layer was uploaded from, and which layer.
    pub file: Option<String>,
    pub layer: Option<String>,
    pub code: Option<String>,
    pub help: Option<String>,
    pub task: Option<String>,
    pub nodes: Vec<String>,
}

impl fmt::Display for Refusal {
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

/// As Keystone says no.
#[derive(Deserialize)]
struct KeystoneEnvelope {
    error: KeystoneError,
}

#[derive(Deserialize)]
struct KeystoneError {
    message: String,
}

/// As the module API says no: one key, named after the kind.
type ModuleEnvelope = std::collections::BTreeMap<String, KeystoneError>;

impl Refusal {
    /// Reads the envelope; a body that has none still says something, if it is short.
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

/// What some other program between us and the server said, unless it is a page.
fn first_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let first: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
    let is_page = first.trim_start().starts_with('<');
    if first.is_empty() || is_page { "it says nothing more".to_owned() } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_refusal_says_something() {
        let refusal = Refusal::read(
            400,
            br#"{"message": "m", "errors": [{"path": "a", "line": 2, "message": "x", "id": 4}]}"#,
        );
        assert_eq!((refusal.message.as_str(), refusal.errors[0].line), ("m", Some(2)));
        let said = |body: &[u8]| Refusal::read(502, body).message;
        assert_eq!(said(br#"{"badRequest": {"code": 400, "message": "no such module"}}"#), "no such module");
        assert_eq!(said(br#"{"error": {"code": 401, "message": "no"}}"#), "status 502: no");
        assert_eq!(said(b"bad gateway\nmore"), "status 502: bad gateway");
        assert_eq!(said(b"<html>"), "status 502: it says nothing more");
        assert_eq!(said(b""), "status 502: it says nothing more");
        assert_eq!(said(&[0xff, 0xfe]), "status 502: \u{fffd}\u{fffd}");
    }
}
