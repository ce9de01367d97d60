//! How an agent becomes known to a server: `POST /api/v1/agents/join`, once.

use serde::{Deserialize, Serialize};
use stoker_model::JsonMap;

/// Where.
pub const PATH: &str = "/api/v1/agents/join";

/// Where the conversation then happens, as a WebSocket.
pub const SESSION_PATH: &str = "/api/v1/agents/session";

/// What the agent sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Given out by an operator; good for joining and nothing else.
    pub token: String,
    /// How the node is called.
    pub node: String,
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
}
