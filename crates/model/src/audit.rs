//! Who changed what, and when.

use crate::{AuditId, Json, Micros, UserId};

/// On whose behalf a change is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// `None` for the server itself (first start, retention).
    pub user_id: Option<UserId>,
    pub user_name: String,
    /// Where the request came from.
    pub address: Option<String>,
}

impl Actor {
    pub fn server() -> Self {
        Self { user_id: None, user_name: "stoker".to_owned(), address: None }
    }
}

/// What was changed, in words for the log. A change is not committed without one.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Noun and verb: `graph.update`.
    pub action: &'static str,
    /// The kind and id of the thing: `graph 12`.
    pub target: String,
    /// What helps a reader later (names, counts); never a secret.
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
