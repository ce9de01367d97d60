//! Request and response types of users.

use std::fmt;

use serde::Serialize;
use stoker_manifest::reader::{report_wrong_type, string_with_length};
use stoker_diagnostics::Diagnostics;
use stoker_model::{Tenant, TenantId, User};
use stoker_yaml::{Node, NodeKind, Scalar};
use utoipa::ToSchema;

use stoker_services::clock;

/// User.
#[derive(Serialize, ToSchema)]
#[schema(as = User)]
pub(super) struct UserView {
    /// ID of the user.
    #[schema(example = 2)]
    id: i64,
    /// Name of the user.
    #[schema(example = "ada")]
    name: String,
    /// Name of the tenant.
    #[schema(example = "blue")]
    tenant: Option<String>,
    /// ID of the tenant.
    tenant_id: i64,
    /// Roles of the user.
    #[schema(example = json!(["member"]))]
    roles: Vec<&'static str>,
    /// Whether the user can log in.
    enabled: bool,
    /// Creation time.
    created_at: String,
}

impl UserView {
    pub(super) fn new(user: &User, tenant: Option<&Tenant>) -> Self {
        Self {
            id: user.id.0,
            name: user.name.clone(),
            tenant: tenant.map(|tenant| tenant.name.clone()),
            tenant_id: user.tenant_id.0,
            roles: user.roles.iter().map(|role| role.as_str()).collect(),
            enabled: user.enabled,
            created_at: clock::plain(user.created_at),
        }
    }
}

/// User. A new user requires all fields except `enabled`.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct UserBody {
    /// Name of the user, unique.
    #[schema(example = "ada", min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Password.
    #[schema(example = "correct horse", min_length = 1, max_length = 1024)]
    password: Option<String>,
    /// Name or ID of the tenant.
    #[schema(example = "blue")]
    tenant: Option<String>,
    /// Roles: any of `admin`, `operator`, `viewer`, `member`.
    #[schema(example = json!(["member"]))]
    roles: Option<Vec<String>>,
    /// Whether the user can log in (default true).
    enabled: Option<bool>,
}

/// Reference to a tenant by name or ID.
pub(in crate::api) enum TenantRef {
    Name(String),
    Id(TenantId),
}

impl fmt::Display for TenantRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Id(id) => write!(f, "{id}"),
        }
    }
}

pub(in crate::api) fn read_tenant(node: &Node, problems: &mut Diagnostics) -> Option<TenantRef> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Int(id)) => Some(TenantRef::Id(TenantId(*id))),
        NodeKind::Scalar(Scalar::Str(_)) => string_with_length(1..=255)(node, problems).map(TenantRef::Name),
        _ => {
            report_wrong_type(node, "a tenant name or ID", problems);
            None
        }
    }
}

/// Parses a password. The length is limited because hashing long passwords is expensive (denial of service).
pub(super) fn read_password(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    string_with_length(1..=1024)(node, problems)
}
