//! Tenants: owners of clusters, nodes and modules.

mod quotas;

use axum::extract::State;
use serde_json::json;
use stoker_api_types::Request as _;
use stoker_api_types::tenants::{TenantBody, TenantView};
use stoker_model::{AuditChange, NewTenant, Permission, Tenant, TenantId};
use stoker_services::clock;
use stoker_store::StoreError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::api::users::require_enabled_admin;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

/// Fields of responses that an update may repeat, but not change.
const READ_ONLY: &[&str] = &["id", "created_at"];

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("users")
        .add(Permission::Administer, routes!(tenant_list))
        .add(Permission::Administer, routes!(tenant_create))
        .add(Permission::Administer, routes!(tenant_show))
        .add(Permission::Administer, routes!(tenant_update))
        .add(Permission::Administer, routes!(tenant_delete))
        .add(Permission::Administer, routes!(quotas::quotas_show))
        .add_unversioned(Permission::Administer, routes!(quotas::quotas_update))
        .finish()
}

fn render_tenant(tenant: Tenant) -> TenantView {
    TenantView {
        id: tenant.id.0,
        name: tenant.name,
        description: tenant.description,
        enabled: tenant.enabled,
        created_at: clock::plain(tenant.created_at),
    }
}

/// List tenants
#[utoipa::path(get, path = "/api/v1/tenants", params(Paging), responses((status = 200, body = [TenantView])))]
async fn tenant_list(State(app): State<App>, mut query: Query) -> ApiResult<ApiResponse<Vec<TenantView>>> {
    let list = list(&mut query);
    query.finish()?;
    let page = app.store.read().await?.tenant_list(&list).await?;
    ApiResponse::page(&list, page, render_tenant)
}

/// Create a tenant
#[utoipa::path(
    post, path = "/api/v1/tenants", request_body = TenantBody,
    responses((status = 201, body = TenantView))
)]
async fn tenant_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<TenantView>> {
    let new = document.fields(|fields| {
        fields.require(&["name"]);
        let TenantBody { name, description, enabled } = TenantBody::read(fields)?;
        Some(NewTenant { name: name?, description: description.value(), enabled: enabled.unwrap_or(true) })
    })?;
    let mut writing = app.change(&login).await?;
    let tenant = writing.tenant_create(&new).await.map_err(|error| duplicate_error(error, &new.name))?;
    let detail = json!({"name": tenant.name});
    writing
        .commit(AuditChange { action: "tenant.create", target: format!("tenant {}", tenant.id), detail })
        .await?;
    Ok(ApiResponse::created(render_tenant(tenant.clone())).version(tenant.generation))
}

/// Retrieve a tenant
#[utoipa::path(
    get, path = "/api/v1/tenants/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = TenantView))
)]
async fn tenant_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<TenantView>> {
    let tenant = app.store.read().await?.tenant_get(id(&path)?).await?.ok_or_else(not_found)?;
    let generation = tenant.generation;
    Ok(ApiResponse::ok(render_tenant(tenant)).version(generation))
}

/// Update a tenant
///
/// Omitted fields are unchanged. Fails if it would disable the last admin.
#[utoipa::path(
    put, path = "/api/v1/tenants/{id}", params(("id" = i64, Path)), request_body = TenantBody,
    responses((status = 200, body = TenantView))
)]
async fn tenant_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<TenantView>> {
    let TenantBody { name, description, enabled } = document.fields(|fields| {
        fields.ignore(READ_ONLY);
        TenantBody::read(fields)
    })?;
    let mut writing = app.change(&login).await?;
    let mut tenant = writing.tenant_get(id(&path)?).await?.ok_or_else(not_found)?;
    condition.check(tenant.generation)?;
    document.check_read_only(READ_ONLY, &render_tenant(tenant.clone()))?;
    tenant.name = name.unwrap_or(tenant.name);
    description.apply(&mut tenant.description);
    tenant.enabled = enabled.unwrap_or(tenant.enabled);
    let tenant =
        writing.tenant_update(&tenant).await.map_err(|error| duplicate_error(error, &tenant.name))?;
    require_enabled_admin(&mut writing).await?;
    let detail = json!({"name": tenant.name, "enabled": tenant.enabled});
    writing
        .commit(AuditChange { action: "tenant.update", target: format!("tenant {}", tenant.id), detail })
        .await?;
    app.orchestrator.clear_token_cache();
    let generation = tenant.generation;
    Ok(ApiResponse::ok(render_tenant(tenant)).version(generation))
}

/// Delete a tenant
///
/// Fails if the tenant has users or clusters.
#[utoipa::path(
    delete, path = "/api/v1/tenants/{id}", params(("id" = i64, Path)),
    responses((status = 204))
)]
async fn tenant_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<NoContent> {
    let mut writing = app.change(&login).await?;
    let tenant = writing.tenant_get(id(&path)?).await?.ok_or_else(not_found)?;
    condition.check(tenant.generation)?;
    writing.tenant_delete(tenant.id).await.map_err(|error| match error {
        StoreError::Referenced { what } => {
            ApiError::conflict(format!("tenant `{}` still has a {what}", tenant.name))
        }
        error => error.into(),
    })?;
    let detail = json!({"name": tenant.name});
    writing
        .commit(AuditChange { action: "tenant.delete", target: format!("tenant {}", tenant.id), detail })
        .await?;
    app.orchestrator.clear_token_cache();
    Ok(NoContent)
}

fn id(path: &PathParams) -> ApiResult<TenantId> {
    path.id("id", TenantId, "Tenant")
}

fn not_found() -> ApiError {
    ApiError::not_found("Tenant")
}

fn duplicate_error(error: StoreError, name: &str) -> ApiError {
    match error {
        StoreError::AlreadyExists { .. } => ApiError::conflict(format!("tenant `{name}` already exists")),
        error => error.into(),
    }
}
