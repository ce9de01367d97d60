//! Agents.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = AgentCertificate)]
pub struct CertificateView {
    /// Certificate in PEM format, followed by the certificate of the CA.
    pub certificate: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Joined)]
pub struct JoinedView {
    /// UID of the node, which identifies the agent from now on.
    #[schema(example = "7")]
    pub node_uid: String,
    /// Credential with which the agent authenticates. Only returned in this response.
    #[schema(example = "stk_…")]
    pub credential: String,
    /// Client certificate in PEM format, followed by the certificate of the CA. Only present if it was
    /// requested and the server has a certificate authority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Agent)]
pub struct AgentView {
    #[schema(example = 1)]
    pub id: i64,
    /// UID of the node, or `master`.
    #[schema(example = "7")]
    pub uid: String,
    /// ID of the node; null for the master.
    #[schema(example = 7)]
    pub node_id: Option<i64>,
    #[schema(example = "0.1.0")]
    pub version: String,
    pub joined_at: String,
    pub last_seen_at: Option<String>,
    /// Whether the agent is connected to this server or to another server of the group.
    pub is_connected: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = NatsUser)]
pub struct NatsUserView {
    /// NATS user JWT. Permits publishing and subscribing on the subjects of this agent only.
    #[schema(example = "eyJ0eXAi…")]
    pub jwt: String,
    /// Seed of the user's private key (NKey).
    #[schema(example = "SUAM…")]
    pub seed: String,
    /// Public key of the user.
    #[schema(example = "UABC…")]
    pub key: String,
    /// Lifetime of the user, in seconds.
    #[schema(example = 43200)]
    pub expires_in_seconds: u64,
}
