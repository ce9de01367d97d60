//! Tokens.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
