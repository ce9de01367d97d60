//! Tenant quotas.

use stoker_model::{Quotas, Resource, TenantId};
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};

/// Returns the quotas of a tenant, or the defaults of the server for quotas that it does not set.
pub async fn effective(defaults: Quotas, session: &mut Session, tenant: TenantId) -> ServiceResult<Quotas> {
    Ok(session.quotas_get(tenant).await?.or(defaults))
}

/// Checks a quota after a change that adds a resource and before its commit, so that two concurrent changes cannot both
/// take the last slot.
pub async fn check_quota(
    defaults: Quotas,
    session: &mut Session,
    tenant: TenantId,
    resource: Resource,
) -> ServiceResult<()> {
    let Some(most) = effective(defaults, session, tenant).await?.limit(resource) else { return Ok(()) };
    if session.quota_used(tenant, resource).await? <= most {
        return Ok(());
    }
    let name = session.tenant_get(tenant).await?.map_or_else(|| tenant.to_string(), |tenant| tenant.name);
    Err(ServiceError::conflict(format!(
        "quota exceeded: tenant `{name}` may have {most} {resource}; delete one, or ask an admin to raise the quota"
    )))
}
