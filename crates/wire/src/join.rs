//! How an agent becomes known to a server: `POST /api/v1/agents/join`, once.

use serde::{Deserialize, Serialize};
use stoker_model::JsonMap;

/// Where.
pub const PATH: &str = "/api/v1/agents/join";

/// Where the conversation then happens, as a WebSocket.
pub const SESSION_PATH: &str = "/api/v1/agents/session";

/// Where an agent asks for its next certificate.
pub const CERTIFICATE_PATH: &str = "/api/v1/agents/certificate";

/// What the agent sends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Given out by an operator; good for joining and nothing else.
    pub token: String,
    /// How the node is called.
    pub node: String,
    /// Of the program.
    #[serde(default)]
    pub version: String,
    /// For a certificate, in PEM form; servers without an authority pass it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_request: Option<String>,
    #[serde(default)]
    pub facts: JsonMap,
}

/// What it gets, and keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinAnswer {
    /// The uid of the node, or `master`.
    pub node_uid: String,
    /// Sent as `Authorization: Bearer …` from now on.
    pub credential: String,
    /// In PEM form with its authority, if it was asked for and the server has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

/// What the agent sends for its next certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateRequest {
    /// In PEM form.
    pub certificate_request: String,
}

/// What it gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateAnswer {
    /// In PEM form with its authority.
    pub certificate: String,
}
