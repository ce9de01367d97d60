//! Agent enrollment over REST: `POST /api/v1/agents/join`, called once per agent, and certificate renewal.

use serde::{Deserialize, Serialize};
use stoker_model::{AgentUid, JsonMap};

pub const JOIN_PATH: &str = "/api/v1/agents/join";

/// WebSocket path of an agent's session with the server.
pub const SESSION_PATH: &str = "/api/v1/agents/session";

/// Path for certificate renewal.
pub const CERTIFICATE_PATH: &str = "/api/v1/agents/certificate";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Join token issued by an operator. It authorizes enrollment only.
    pub token: String,
    /// Node name.
    pub node: String,
    /// Agent version.
    #[serde(default)]
    pub version: String,
    /// Certificate signing request in PEM. Servers without a certificate authority ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_request: Option<String>,
    #[serde(default)]
    pub facts: JsonMap,
    /// Absent in requests of agents that do not identify their journal; they count as new machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalIdentity>,
}

/// Identity of the journal that an agent keeps in its state directory. A new machine has a new journal, so the server
/// recognizes the machine that a task was applied to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalIdentity {
    /// Random id, created with the journal.
    pub id: String,
    /// Node that the agent last served with this journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_uid: Option<AgentUid>,
}

/// Response to a [`JoinRequest`]; the agent persists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinResponse {
    pub node_uid: AgentUid,
    /// Bearer token for all later requests: `Authorization: Bearer …`.
    pub credential: String,
    /// Certificate chain in PEM, including the authority; absent if the agent sent no request or the server
    /// has no authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

/// Request body for certificate renewal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateRequest {
    /// Certificate signing request in PEM.
    pub certificate_request: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateResponse {
    /// Certificate chain in PEM, including the authority.
    pub certificate: String,
}
