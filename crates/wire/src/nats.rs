//! How agents and servers find each other on NATS.
//!
//! The words of a subject have the uid of the agent and the key of its user in them. NATS lets a user publish and listen
//! under its own key alone, so whoever speaks under a key has it; servers compare it with the credential they gave out.

use serde::{Deserialize, Serialize};
use stoker_engine::session::AttemptKey;

/// Where an agent asks for a user of NATS, with its credential.
pub const USER_PATH: &str = "/api/v1/agents/nats_user";

/// The name under which servers share the calls of agents.
pub const SERVERS: &str = "stoker-servers";

/// A user of NATS, good for a while.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserAnswer {
    /// Says who it is and what it may do.
    pub jwt: String,
    /// Proves it.
    pub seed: String,
    /// How it is called.
    pub key: String,
    pub expires_in_seconds: u64,
}

/// The first word of an agent: it listens under this name, and will speak under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub conversation: String,
}

impl Call {
    /// What the conversation can be called.
    const BYTES_MAX: usize = 64;

    pub fn encode(&self) -> Vec<u8> {
        crate::codec::encode(self).into_bytes()
    }

    /// `None`: it makes no sense.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let call: Self = serde_json::from_slice(bytes).ok()?;
        (call.conversation.len() <= Self::BYTES_MAX).then_some(call)
    }
}

/// Where an agent calls.
pub fn call<'a>(uid: &'a str, key: &'a str) -> [&'a str; 5] {
    ["stoker", "agent", uid, key, "call"]
}

/// Where servers listen for calls of all agents.
pub const CALLS: [&str; 5] = ["stoker", "agent", "*", "*", "call"];

/// What an agent says.
pub fn out<'a>(uid: &'a str, key: &'a str, conversation: &'a str) -> [&'a str; 6] {
    ["stoker", "agent", uid, key, "out", conversation]
}

/// What an agent hears.
pub fn into<'a>(uid: &'a str, key: &'a str, conversation: &'a str) -> [&'a str; 6] {
    ["stoker", "agent", uid, key, "in", conversation]
}

/// Where an agent has results kept. What is said there is spelled as in a conversation.
pub fn result<'a>(uid: &'a str, key: &'a str) -> [&'a str; 5] {
    ["stoker", "agent", uid, key, "result"]
}

/// Results of all agents.
pub const RESULTS: [&str; 5] = ["stoker", "agent", "*", "*", "result"];

/// The same of all agents together, as they are kept.
pub const RESULTS_NAME: &str = "STOKER_RESULTS";

/// What tells one result from another while it is on its way. The key of the user is in it, which no other agent knows: nobody
/// can have a result taken for one that is there already.
pub fn result_id(key: &str, attempt: AttemptKey) -> String {
    format!("{key}/{attempt}")
}

/// Under which answers come that an agent asks for on NATS: a part of what it may listen to.
pub fn inbox(uid: &str, key: &str) -> String {
    ["stoker", "agent", uid, key, "in"].join(".")
}

/// All that an agent may publish to.
pub fn may_publish(uid: &str, key: &str) -> Vec<String> {
    vec![call(uid, key).join("."), out(uid, key, ">").join("."), result(uid, key).join(".")]
}

/// All that an agent may listen to.
pub fn may_subscribe(uid: &str, key: &str) -> Vec<String> {
    vec![into(uid, key, ">").join(".")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_make_no_sense_are_refused() {
        let call = Call { conversation: "abc".to_owned() };
        assert_eq!(Call::decode(&call.encode()), Some(call));
        for bytes in [&b""[..], b"{}", b"[]", b"{\"conversation\": 7}"] {
            assert_eq!(Call::decode(bytes), None);
        }
        let long = Call { conversation: "a".repeat(65) };
        assert_eq!(Call::decode(&long.encode()), None);
    }

    #[test]
    fn an_agent_may_speak_under_its_own_key_alone() {
        let own = ["stoker.agent.7.UABC.call", "stoker.agent.7.UABC.out.>", "stoker.agent.7.UABC.result"];
        assert_eq!(may_publish("7", "UABC"), own);
        assert_eq!(may_subscribe("7", "UABC"), ["stoker.agent.7.UABC.in.>"]);
        assert_eq!(format!("{}.>", inbox("7", "UABC")), may_subscribe("7", "UABC").concat());
    }
}
