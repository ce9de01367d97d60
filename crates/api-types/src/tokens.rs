//! Request and response types for tokens.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{integer_in, string_with_length};
use utoipa::ToSchema;

use crate::request::request;

/// Maximum lifetime: ten years.
const EXPIRES_IN_MAX: i64 = 10 * 365 * 24 * 3600;

/// API token.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Token)]
pub struct TokenView {
    /// ID of the token.
    pub id: i64,
    /// ID of the owner.
    pub user_id: i64,
    /// ID of the tenant that the token gives access to.
    pub tenant_id: i64,
    /// Label that the owner chose; null for login tokens.
    pub label: Option<String>,
    /// Creation time.
    pub issued_at: String,
    /// Expiration time.
    pub expires_at: String,
    /// Secret of the token. Only returned when the token is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "stk_…")]
    pub token: Option<String>,
}

request! {
    /// New token.
    pub struct TokenBody {
        /// Label of the token.
        #[schema(example = "nightly job", min_length = 1, max_length = 255)]
        label: String = required(string_with_length(1..=255)),
        /// Lifetime in seconds (default 30 days, maximum 10 years).
        #[schema(example = 86400, minimum = 1)]
        expires_in: Option<i64> = optional(integer_in(1..=EXPIRES_IN_MAX)),
    }
}
