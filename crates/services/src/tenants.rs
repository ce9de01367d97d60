//! References to tenants.

use std::fmt;

use stoker_model::{Tenant, TenantId};
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};

/// Reference to a tenant by name or ID.
pub enum TenantRef {
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

pub async fn find_tenant(session: &mut Session, tenant_ref: &TenantRef) -> ServiceResult<Tenant> {
    let tenant = match tenant_ref {
        TenantRef::Id(id) => session.tenant_get(*id).await?,
        // Logins return IDs as text, so text may be an ID.
        TenantRef::Name(name) => match (session.tenant_by_name(name).await?, TenantId::parse(name)) {
            (None, Some(id)) => session.tenant_get(id).await?,
            (tenant, _) => tenant,
        },
    };
    tenant.ok_or_else(|| ServiceError::invalid(format!("tenant {tenant_ref} does not exist")))
}
