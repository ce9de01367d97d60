//! The audit log.

use crate::{AuditId, Json, Micros, UserId};

/// Originator of a change: the user or the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// User who made the change; `None` for the server itself (first start, retention).
    pub user_id: Option<UserId>,
    pub user_name: String,
    /// Address the request came from.
    pub address: Option<String>,
}

impl Actor {
    pub fn server() -> Self {
        Self { user_id: None, user_name: "stoker".to_owned(), address: None }
    }
}

/// An audit log entry before it is stored. Every committed change has an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditChange {
    /// Noun and verb, such as `graph.update`.
    pub action: &'static str,
    /// Kind and id of the resource, such as `graph 12`.
    pub target: String,
    /// Context for readers of the log (names, counts); never a secret.
    pub detail: Json,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    pub id: AuditId,
    pub at: Micros,
    pub user_id: Option<UserId>,
    pub user_name: String,
    pub address: Option<String>,
    pub action: String,
    pub target: String,
    pub detail: Json,
}
