//! Quotas of tenants.

use axum::extract::State;
use serde_json::json;
use stoker_api_types::tenants::{QuotaView, QuotasBody, QuotasView};
use stoker_model::{AuditChange, Quotas, Resource, Tenant};
use stoker_services::quotas::effective;
use stoker_store::Session;

use super::{id, not_found};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::response::ApiResponse;
use crate::state::App;

/// Retrieve the quotas of a tenant
#[utoipa::path(
    get, path = "/api/v1/tenants/{id}/quotas", params(("id" = i64, Path)),
    responses((status = 200, body = QuotasView))
)]
pub(super) async fn quotas_show(
    State(app): State<App>,
    path: PathParams,
) -> ApiResult<ApiResponse<QuotasView>> {
    let mut session = app.store.snapshot().await?;
    let tenant = session.tenant_get(id(&path)?).await?.ok_or_else(not_found)?;
    Ok(ApiResponse::ok(view(&app, &mut session, &tenant).await?))
}

/// Update the quotas of a tenant
///
/// Omitted quotas are unchanged. Existing resources above a new quota are retained.
#[utoipa::path(
    put, path = "/api/v1/tenants/{id}/quotas", params(("id" = i64, Path)), request_body = QuotasBody,
    responses((status = 200, body = QuotasView))
)]
pub(super) async fn quotas_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    document: Document,
) -> ApiResult<ApiResponse<QuotasView>> {
    let QuotasBody { clusters, modules, nodes } = document.request()?;
    let mut writing = app.change(&login).await?;
    let tenant = writing.tenant_get(id(&path)?).await?.ok_or_else(not_found)?;
    let mut quotas = writing.quotas_get(tenant.id).await?;
    clusters.apply(&mut quotas.clusters);
    modules.apply(&mut quotas.modules);
    nodes.apply(&mut quotas.nodes);
    writing.quotas_put(tenant.id, &quotas).await?;
    let quotas_view = view(&app, &mut writing, &tenant).await?;
    let Quotas { clusters, modules, nodes } = quotas;
    let detail = json!({"clusters": clusters, "modules": modules, "nodes": nodes});
    let target = format!("tenant {}", tenant.id);
    writing.commit(AuditChange { action: "tenant.quotas", target, detail }).await?;
    Ok(ApiResponse::ok(quotas_view))
}

async fn view(app: &App, session: &mut Session, tenant: &Tenant) -> ApiResult<QuotasView> {
    let own = session.quotas_get(tenant.id).await?;
    let effective = effective(app.settings.limits.quotas, session, tenant.id).await?;
    let mut quota = async |resource| {
        let used = session.quota_used(tenant.id, resource).await?;
        Ok::<_, crate::http::error::ApiError>(QuotaView {
            limit: effective.limit(resource),
            is_own: own.limit(resource).is_some(),
            used,
        })
    };
    Ok(QuotasView {
        clusters: quota(Resource::Clusters).await?,
        modules: quota(Resource::Modules).await?,
        nodes: quota(Resource::Nodes).await?,
    })
}
