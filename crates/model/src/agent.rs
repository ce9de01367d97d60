//! Agents, and the tokens with which they come in.

use crate::{AgentId, JoinTokenId, Micros, NodeId};

/// An agent that came in. What it knows itself by is a secret of which only the digest is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub id: AgentId,
    /// The uid of its node, or `master`. Unique.
    pub uid: String,
    /// None for the master.
    pub node_id: Option<NodeId>,
    /// Of the program, when it came in.
    pub version: String,
    pub joined_at: Micros,
    pub last_seen_at: Option<Micros>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAgent {
    pub uid: String,
    pub node_id: Option<NodeId>,
    /// SHA-256 of its credential.
    pub digest: [u8; 32],
    pub version: String,
    pub joined_at: Micros,
}

/// A certificate that an agent got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAgentCertificate {
    pub agent_id: AgentId,
    /// SHA-256 over the certificate.
    pub fingerprint: [u8; 32],
    /// The number its authority gave it, as hexadecimal digits.
    pub serial: String,
    pub issued_at: Micros,
    pub expires_at: Micros,
}

/// Lets agents in, until it expires or is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinToken {
    pub id: JoinTokenId,
    /// What its maker calls it.
    pub label: Option<String>,
    /// None: as often as one likes.
    pub uses_left: Option<i64>,
    /// Whether an agent may take the place of one that is there already, or of the master.
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
