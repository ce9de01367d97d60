//! Servers that share a database.

use crate::Micros;

/// A server of the group, as it says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// New with every start.
    pub id: String,
    /// The name of its machine.
    pub name: String,
    /// Where it listens.
    pub address: String,
    /// Of the program.
    pub version: String,
    /// Whether messages reach it over the bus.
    pub hears_bus: bool,
    pub started_at: Micros,
    pub seen_at: Micros,
}

/// Where an agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentHost {
    pub uid: String,
    /// Greater than that of every change before.
    pub number: i64,
    /// The server it is connected to; none if it went away.
    pub server_id: Option<String>,
}

/// An agent has come to a server, or left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostChange {
    pub uid: String,
    /// The server's number of the connection: the end of an old one says nothing about a new one.
    pub connection: i64,
    pub is_connected: bool,
}

/// A message that waits for a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    pub id: i64,
    pub body: String,
}
