//! Quotas of tenants.

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::integer_in;
use stoker_model::{AuditChange, Quotas, Resource, Tenant};
use stoker_store::Session;
use utoipa::ToSchema;

use super::{id, not_found};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::limits::effective;
use crate::state::App;

const QUOTA_MAX: i64 = 1_000_000_000;

/// Quotas and usage of a tenant.
#[derive(Serialize, ToSchema)]
#[schema(as = Quotas)]
pub(super) struct QuotasView {
    /// Quota of clusters.
    clusters: QuotaView,
    /// Quota of modules.
    modules: QuotaView,
    /// Quota of nodes.
    nodes: QuotaView,
}

/// Quota and usage of one kind of resource.
#[derive(Serialize, ToSchema)]
#[schema(as = Quota)]
struct QuotaView {
    /// Maximum number; null for no limit.
    #[schema(example = 20)]
    limit: Option<i64>,
    /// Whether the quota is set for this tenant, or is the default.
    is_own: bool,
    /// Current number.
    used: i64,
}

/// Quotas of a tenant. Omitted ones are unchanged; null restores the default.
#[derive(ToSchema)]
#[schema(as = QuotasChange)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct QuotasBody {
    /// Maximum number of clusters.
    #[schema(example = 20, minimum = 0)]
    clusters: Option<i64>,
    /// Maximum number of modules.
    #[schema(minimum = 0)]
    modules: Option<i64>,
    /// Maximum number of nodes.
    #[schema(minimum = 0)]
    nodes: Option<i64>,
}

/// Retrieve the quotas of a tenant
#[utoipa::path(
    get, path = "/api/v1/tenants/{id}/quotas", params(("id" = i64, Path)),
    responses((status = 200, body = QuotasView))
)]
pub(super) async fn quotas_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<QuotasView>> {
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
    let [clusters, modules, nodes] = document.fields(|fields| {
        let mut quota = |name| fields.update(name, integer_in(0..=QUOTA_MAX));
        Some([quota("clusters"), quota("modules"), quota("nodes")])
    })?;
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
    let effective = effective(&app.limits, session, tenant.id).await?;
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
