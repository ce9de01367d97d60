//! Agents and their join tokens.

use crate::{AgentId, AgentUid, JoinTokenId, Micros, NodeId};

/// An enrolled agent. Only the digest of its credential is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub id: AgentId,
    /// UID of the node of the agent, or `master`. Unique.
    pub uid: AgentUid,
    /// Node of the agent; `None` for the master.
    pub node_id: Option<NodeId>,
    /// Version of the agent program at enrollment.
    pub version: String,
    pub joined_at: Micros,
    pub last_seen_at: Option<Micros>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAgent {
    pub uid: AgentUid,
    pub node_id: Option<NodeId>,
    /// SHA-256 of the credential of the agent.
    pub digest: [u8; 32],
    pub version: String,
    pub joined_at: Micros,
}

/// A certificate issued to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAgentCertificate {
    pub agent_id: AgentId,
    /// SHA-256 of the certificate.
    pub fingerprint: [u8; 32],
    /// Serial number assigned by the certificate authority, in hexadecimal.
    pub serial: String,
    pub issued_at: Micros,
    pub expires_at: Micros,
}

/// Allows agents to enroll until it expires or its uses are exhausted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinToken {
    pub id: JoinTokenId,
    /// Name given by the creator of the token.
    pub label: Option<String>,
    /// Number of agents that can still join; `None` means unlimited.
    pub uses_left: Option<i64>,
    /// Whether an agent may replace an existing agent, including that of the master.
    pub may_replace: bool,
    pub created_at: Micros,
    pub expires_at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJoinToken {
    pub label: Option<String>,
    /// SHA-256 of the secret.
    pub digest: [u8; 32],
    pub uses_left: Option<i64>,
    pub may_replace: bool,
    pub created_at: Micros,
    pub expires_at: Micros,
}
