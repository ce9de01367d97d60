//! What a tenant may have.

use stoker_model::{Quotas, Resource, TenantId};
use stoker_store::Session;

use super::Limits;
use crate::http::error::{ApiError, ApiResult};

/// What holds for a tenant: what is said of it, else what is said of all.
pub(crate) async fn effective(limits: &Limits, session: &mut Session, tenant: TenantId) -> ApiResult<Quotas> {
    Ok(session.quotas_get(tenant).await?.or(limits.quotas))
}

/// Asked after a change that adds something and before it is committed, so that two at once cannot both be the last.
pub(crate) async fn within_quota(
    limits: &Limits,
    session: &mut Session,
    tenant: TenantId,
    resource: Resource,
) -> ApiResult<()> {
    let Some(most) = effective(limits, session, tenant).await?.of(resource) else { return Ok(()) };
    if session.quota_used(tenant, resource).await? <= most {
        return Ok(());
    }
    let name = session.tenant_get(tenant).await?.map_or_else(|| tenant.to_string(), |tenant| tenant.name);
    Err(ApiError::conflict(format!(
        "tenant `{name}` may have {most} {resource}; delete one, or ask an admin for more"
    )))
}
