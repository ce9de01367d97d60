//! Servers that share a database.

use crate::{AgentUid, Micros};

/// Registration record of a server in the server group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRecord {
    /// Random ID, generated at every start.
    pub id: String,
    /// Hostname of the machine of the server.
    pub name: String,
    /// Address it listens on.
    pub address: String,
    /// Version of the server program.
    pub version: String,
    /// Whether the server receives messages over the bus.
    pub receives_bus: bool,
    pub started_at: Micros,
    pub heartbeat_at: Micros,
}

/// The server an agent is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentHost {
    pub uid: AgentUid,
    /// Sequence number, greater than that of every earlier change.
    pub number: i64,
    /// Server to which the agent is connected; `None` if it is disconnected.
    pub server_id: Option<String>,
}

/// An agent connected to a server or disconnected from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConnectionChange {
    pub uid: AgentUid,
    /// Number of the connection on its server: the end of an old connection must not affect a newer one.
    pub connection: i64,
    pub is_connected: bool,
}

/// A message queued for a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedPeerMessage {
    pub id: i64,
    pub body: String,
}
