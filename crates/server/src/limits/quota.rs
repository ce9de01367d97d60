//! Tenant quotas.

use stoker_model::{Quotas, Resource, TenantId};
use stoker_store::Session;

use super::Limits;
use crate::http::error::{ApiError, ApiResult};

/// Returns the quotas of a tenant: its own, else the defaults.
pub(crate) async fn effective(limits: &Limits, session: &mut Session, tenant: TenantId) -> ApiResult<Quotas> {
    Ok(session.quotas_get(tenant).await?.or(limits.quotas))
}

/// Checks a quota after a change that adds a resource and before its commit, so that two concurrent changes cannot both
/// take the last slot.
pub(crate) async fn check_quota(
    limits: &Limits,
    session: &mut Session,
    tenant: TenantId,
    resource: Resource,
) -> ApiResult<()> {
    let Some(most) = effective(limits, session, tenant).await?.limit(resource) else { return Ok(()) };
    if session.quota_used(tenant, resource).await? <= most {
        return Ok(());
    }
    let name = session.tenant_get(tenant).await?.map_or_else(|| tenant.to_string(), |tenant| tenant.name);
    Err(ApiError::conflict(format!(
        "quota exceeded: tenant `{name}` may have {most} {resource}; delete one, or ask an admin to raise the quota"
    )))
}
