//! NATS subjects, permissions and user credentials of agents.
//!
//! Every agent subject contains the UID of the agent and the public key of its NATS user. NATS permissions
//! restrict a user to subjects with its key, so a message on such a subject proves possession of the key;
//! servers compare the key with the credential they issued.

use serde::{Deserialize, Serialize};
use stoker_engine::session::AttemptKey;
use stoker_model::AgentUid;

/// Path where an agent requests a NATS user; authenticated by the agent's credential.
pub const USER_PATH: &str = "/api/v1/agents/nats_user";

/// Queue group of the servers: each agent call is delivered to one of them.
pub const SERVER_QUEUE_GROUP: &str = "stoker-servers";

/// Short-lived NATS user credentials.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NatsUserCredentials {
    /// User JWT with the permissions of the user.
    pub jwt: String,
    /// NKey seed that signs the server's nonce.
    pub seed: String,
    /// Public NKey of the user.
    pub key: String,
    pub expires_in_seconds: u64,
}

/// Request that opens a session: the agent is subscribed to the `in` subject of this conversation and will
/// publish to its `out` subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRequest {
    #[serde(rename = "conversation")]
    pub session_id: String,
}

impl SessionRequest {
    /// Maximum length of a conversation id.
    const BYTES_MAX: usize = 64;

    pub fn encode(&self) -> Vec<u8> {
        crate::codec::encode(self).into_bytes()
    }

    /// Returns `None` for malformed input and for conversation ids over the length limit.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let call: Self = serde_json::from_slice(bytes).ok()?;
        (call.session_id.len() <= Self::BYTES_MAX).then_some(call)
    }
}

/// Returns the subject on which an agent opens sessions.
pub fn session_request_subject<'a>(uid: &'a AgentUid, key: &'a str) -> [&'a str; 5] {
    ["stoker", "agent", uid.as_str(), key, "call"]
}

/// Wildcard subscription of servers to the calls of all agents.
pub const SESSION_REQUEST_SUBJECTS: [&str; 5] = ["stoker", "agent", "*", "*", "call"];

/// Returns the subject for session messages from the agent to the server.
pub fn outbound_subject<'a>(uid: &'a AgentUid, key: &'a str, conversation: &'a str) -> [&'a str; 6] {
    ["stoker", "agent", uid.as_str(), key, "out", conversation]
}

/// Returns the subject for session messages from the server to the agent.
pub fn inbound_subject<'a>(uid: &'a AgentUid, key: &'a str, conversation: &'a str) -> [&'a str; 6] {
    ["stoker", "agent", uid.as_str(), key, "in", conversation]
}

/// Returns the subject on which an agent publishes attempt results for durable storage. The encoding is that
/// of session messages.
pub fn result_subject<'a>(uid: &'a AgentUid, key: &'a str) -> [&'a str; 5] {
    ["stoker", "agent", uid.as_str(), key, "result"]
}

/// Wildcard over the result subjects of all agents.
pub const RESULT_SUBJECTS: [&str; 5] = ["stoker", "agent", "*", "*", "result"];

/// Name of the durable stream that stores results.
pub const RESULTS_STREAM: &str = "STOKER_RESULTS";

/// Returns the deduplication ID of a published result. It contains the key of the NATS user, which other
/// agents do not know, so that an agent cannot suppress the result of another agent by publishing a duplicate
/// ID.
pub fn result_message_id(key: &str, attempt: AttemptKey) -> String {
    format!("{key}/{attempt}")
}

/// Returns the inbox prefix for NATS request/reply, which is inside the subscribe permission of the agent.
pub fn inbox_prefix(uid: &AgentUid, key: &str) -> String {
    ["stoker", "agent", uid.as_str(), key, "in"].join(".")
}

/// Returns the subjects an agent may publish to.
pub fn publish_permissions(uid: &AgentUid, key: &str) -> Vec<String> {
    vec![
        session_request_subject(uid, key).join("."),
        outbound_subject(uid, key, ">").join("."),
        result_subject(uid, key).join("."),
    ]
}

/// Returns the subjects an agent may subscribe to.
pub fn subscribe_permissions(uid: &AgentUid, key: &str) -> Vec<String> {
    vec![inbound_subject(uid, key, ">").join(".")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_calls_are_rejected() {
        let call = SessionRequest { session_id: "abc".to_owned() };
        assert_eq!(SessionRequest::decode(&call.encode()), Some(call));
        for bytes in [&b""[..], b"{}", b"[]", b"{\"conversation\": 7}"] {
            assert_eq!(SessionRequest::decode(bytes), None);
        }
        let long = SessionRequest { session_id: "a".repeat(65) };
        assert_eq!(SessionRequest::decode(&long.encode()), None);
    }

    #[test]
    fn permissions_are_limited_to_own_key() {
        let uid = AgentUid::from("7");
        let own = ["stoker.agent.7.UABC.call", "stoker.agent.7.UABC.out.>", "stoker.agent.7.UABC.result"];
        assert_eq!(publish_permissions(&uid, "UABC"), own);
        assert_eq!(subscribe_permissions(&uid, "UABC"), ["stoker.agent.7.UABC.in.>"]);
        assert_eq!(format!("{}.>", inbox_prefix(&uid, "UABC")), subscribe_permissions(&uid, "UABC").concat());
    }
}
