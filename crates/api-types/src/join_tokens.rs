//! Request and response types for join tokens.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{boolean, integer_in, string_with_length};
use utoipa::ToSchema;

use crate::request::request;

/// Maximum lifetime of a join token: one year, to bound the damage of a leaked token.
const EXPIRES_IN_MAX: i64 = 365 * 24 * 3600;
const USES_MAX: i64 = 1_000_000;

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

request! {
    pub struct JoinTokenBody {
        /// Description of the token.
        #[schema(example = "rack 7", min_length = 1, max_length = 255)]
        label: Option<String> = nullable(string_with_length(1..=255)),
        /// Number of agents that may join with the token (default: no limit).
        #[schema(example = 20, minimum = 1)]
        uses: Option<i64> = nullable(integer_in(1..=USES_MAX)),
        /// Whether an agent may replace an existing agent of a node, or become the agent of the master (default:
        /// false).
        may_replace: Option<bool> = nullable(boolean),
        /// Lifetime in seconds (default: 86400, one day).
        #[schema(example = 3600, minimum = 1)]
        expires_in: Option<i64> = optional(integer_in(1..=EXPIRES_IN_MAX)),
    }
}
