//! Users.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// User.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = User)]
pub struct UserView {
    /// ID of the user.
    #[schema(example = 2)]
    pub id: i64,
    /// Name of the user.
    #[schema(example = "ada")]
    pub name: String,
    /// Name of the tenant.
    #[schema(example = "blue")]
    pub tenant: Option<String>,
    /// ID of the tenant.
    pub tenant_id: i64,
    /// Roles of the user.
    #[schema(example = json!(["member"]))]
    pub roles: Vec<String>,
    /// Whether the user can log in.
    pub enabled: bool,
    /// Creation time.
    pub created_at: String,
}
