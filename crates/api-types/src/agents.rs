//! Request and response types for agents.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{json_map, object, string_with_length};
use stoker_model::{AgentUid, JsonMap};
use utoipa::ToSchema;

use crate::request::request;

/// Maximum length of a certificate request in PEM format, in bytes; a P-256 request needs less than 1 KiB.
const CERTIFICATE_REQUEST_MAX: usize = 16 << 10;

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
    #[schema(value_type = String, example = "7")]
    pub node_uid: AgentUid,
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
    #[schema(value_type = String, example = "7")]
    pub uid: AgentUid,
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

request! {
    pub struct CertificateBody {
        /// PKCS #10 certificate signing request in PEM format, with an ECDSA P-256 key.
        #[schema(example = "-----BEGIN CERTIFICATE REQUEST-----…")]
        certificate_request: String = required(string_with_length(1..=CERTIFICATE_REQUEST_MAX)),
    }
}

request! {
    pub struct JoinBody {
        /// Join token.
        #[schema(example = "stk_…")]
        token: String = required(string_with_length(1..=255)),
        /// Node that the agent runs on: ID, hostname, name or MAC address; `master` for the master. If omitted,
        /// the node with the MAC address in `facts`, which is created if it does not exist.
        #[schema(example = "node-7")]
        node: Option<String> = nullable(string_with_length(1..=255)),
        /// Version of the agent.
        #[schema(example = "0.1.0")]
        version: Option<String> = nullable(string_with_length(1..=255)),
        /// PKCS #10 certificate signing request in PEM format, with an ECDSA P-256 key. Ignored if the server has
        /// no certificate authority.
        #[schema(example = "-----BEGIN CERTIFICATE REQUEST-----…")]
        certificate_request: Option<String> = nullable(string_with_length(1..=CERTIFICATE_REQUEST_MAX)),
        /// Facts about the machine of the agent.
        #[schema(value_type = Object, example = json!({"hostname": "node-7", "mac": "52:54:00:12:34:56"}))]
        facts: Option<JsonMap> = nullable(json_map),
        /// Journal in the state directory of the agent. An agent without the journal of the previous agent of the
        /// node counts as another machine.
        journal: Option<JournalBody> = nullable(object(JournalBody::read)),
    }
}

request! {
    pub struct JournalBody {
        /// Random ID of the journal.
        #[schema(example = "9f86d081884c7d659a2feaa0c55ad015")]
        id: String = required(string_with_length(1..=128)),
        /// Node that the agent last served with this journal.
        #[schema(example = "7")]
        node_uid: Option<String> = nullable(string_with_length(1..=255)),
    }
}
