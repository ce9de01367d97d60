//! References to tenants.

use stoker_model::{Tenant, TenantId, TenantRef};
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};

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
