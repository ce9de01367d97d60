//! Request and response types for the audit log.

use serde::{Deserialize, Serialize};
use stoker_model::Json;
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub struct AuditView {
    pub id: i64,
    /// Time of the change, in UTC.
    pub at: String,
    /// ID of the user; null for changes by the server itself.
    pub user_id: Option<i64>,
    pub user_name: String,
    /// Source address of the request.
    pub address: Option<String>,
    /// Type of the change.
    #[schema(example = "graph.update")]
    pub action: String,
    /// Changed object.
    #[schema(example = "graph 12")]
    pub target: String,
    pub detail: Json,
}
