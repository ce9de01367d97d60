//! Request and response types for users and their passwords.

use serde::{Deserialize, Serialize};
use stoker_diagnostics::Diagnostics;
use stoker_manifest::reader::{boolean, enum_of, list_of, report_wrong_type, string, string_with_length};
use stoker_model::{Role, TenantId, TenantRef};
use stoker_yaml::{Node, NodeKind, Scalar};
use utoipa::ToSchema;

use crate::request::request;

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

request! {
    /// User. A new user requires all fields except `enabled`.
    pub struct UserBody {
        /// Name of the user, unique.
        #[schema(example = "ada", min_length = 1, max_length = 255)]
        name: Option<String> = optional(string_with_length(1..=255)),
        /// Password of the user.
        #[schema(example = "correct horse", min_length = 1, max_length = 1024)]
        password: Option<String> = optional(read_password),
        /// Name or ID of the tenant.
        #[schema(example = "blue", value_type = Option<String>)]
        tenant: Option<TenantRef> = optional(read_tenant),
        /// Roles: any of `admin`, `operator`, `planner`, `viewer`, `member`.
        #[schema(example = json!(["member"]), value_type = Option<Vec<String>>)]
        roles: Option<Vec<Role>> = optional(list_of(enum_of(Role::NAMES, Role::parse))),
        /// Whether the user can log in (default true).
        enabled: Option<bool> = optional(boolean),
    }
}

request! {
    /// Password change.
    pub struct PasswordBody {
        /// Current password. Required because a token alone is not sufficient.
        old_password: String = required(string),
        /// New password.
        #[schema(min_length = 1, max_length = 1024)]
        password: String = required(read_password),
    }
}

/// Reads a reference to a tenant.
pub(crate) fn read_tenant(node: &Node, problems: &mut Diagnostics) -> Option<TenantRef> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Int(id)) => Some(TenantRef::Id(TenantId(*id))),
        NodeKind::Scalar(Scalar::Str(_)) => string_with_length(1..=255)(node, problems).map(TenantRef::Name),
        _ => {
            report_wrong_type(node, "a tenant name or ID", problems);
            None
        }
    }
}

/// Reads a password. The length is limited because hashing long passwords is expensive (denial of service).
fn read_password(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    string_with_length(1..=1024)(node, problems)
}
