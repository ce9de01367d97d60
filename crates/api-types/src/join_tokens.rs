//! Join tokens.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = JoinToken)]
pub struct JoinTokenView {
    #[schema(example = 1)]
    pub id: i64,
    /// Description of the token.
    pub label: Option<String>,
    /// Number of agents that may still join with the token; null for no limit.
    pub uses_left: Option<i64>,
    /// Whether an agent may replace an existing agent of a node, or become the agent of the master.
    pub may_replace: bool,
    pub created_at: String,
    pub expires_at: String,
    /// Secret of the token. Only returned when the token is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "stk_…")]
    pub token: Option<String>,
}
