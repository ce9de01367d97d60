//! Tenants: owners of clusters, nodes and modules.

mod quotas;

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use stoker_manifest::reader::{boolean, nullable, string_with_length};
use stoker_model::{AuditChange, NewTenant, Permission, Tenant, TenantId};
use stoker_diagnostics::Diagnostics;
use stoker_services::clock;
use stoker_store::StoreError;
use stoker_yaml::Node;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::api::users::require_enabled_admin;
use crate::http::response::{ApiResponse, NoContent};
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::state::App;

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

/// Owner of clusters, nodes and modules.
#[derive(Serialize, ToSchema)]
#[schema(as = Tenant)]
struct TenantView {
    /// ID of the tenant.
    #[schema(example = 2)]
    id: i64,
    /// Name of the tenant.
    #[schema(example = "blue")]
    name: String,
    /// Human-readable description.
    description: Option<String>,
    /// Whether users of the tenant can log in.
    enabled: bool,
    /// Creation time.
    created_at: String,
}

impl From<Tenant> for TenantView {
    fn from(tenant: Tenant) -> Self {
        Self {
            id: tenant.id.0,
            name: tenant.name,
            description: tenant.description,
            enabled: tenant.enabled,
            created_at: clock::plain(tenant.created_at),
        }
    }
}

/// Tenant. An update leaves omitted fields unchanged.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
struct TenantBody {
    /// Name of the tenant, unique.
    #[schema(example = "blue", min_length = 1, max_length = 255)]
    name: String,
    /// Human-readable description.
    description: Option<String>,
    /// Whether users of the tenant can log in.
    #[schema(default = true)]
    enabled: Option<bool>,
}

/// List tenants
#[utoipa::path(get, path = "/api/v1/tenants", params(Paging), responses((status = 200, body = [TenantView])))]
async fn tenant_list(State(app): State<App>, mut query: Query) -> ApiResult<ApiResponse<Vec<TenantView>>> {
    let list = list(&mut query);
    query.finish()?;
    let page = app.store.read().await?.tenant_list(&list).await?;
    ApiResponse::page(&list, page, TenantView::from)
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
        let name = fields.required("name", tenant_name);
        let description = fields.optional("description", nullable(string_with_length(0..=4096)));
        let enabled = fields.optional("enabled", boolean);
        Some(NewTenant { name: name?, description: description.flatten(), enabled: enabled.unwrap_or(true) })
    })?;
    let mut writing = app.change(&login).await?;
    let tenant = writing.tenant_create(&new).await.map_err(|error| duplicate_error(error, &new.name))?;
    let detail = json!({"name": tenant.name});
    writing
        .commit(AuditChange { action: "tenant.create", target: format!("tenant {}", tenant.id), detail })
        .await?;
    Ok(ApiResponse::created(TenantView::from(tenant.clone())).version(tenant.generation))
}

/// Retrieve a tenant
#[utoipa::path(
    get, path = "/api/v1/tenants/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = TenantView))
)]
async fn tenant_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<TenantView>> {
    let tenant = app.store.read().await?.tenant_get(id(&path)?).await?.ok_or_else(not_found)?;
    let generation = tenant.generation;
    Ok(ApiResponse::ok(TenantView::from(tenant)).version(generation))
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
    let (name, description, enabled) = document.fields(|fields| {
        let name = fields.optional("name", tenant_name);
        let description = fields.update("description", string_with_length(0..=4096));
        let enabled = fields.optional("enabled", boolean);
        fields.ignore(&["id", "created_at"]);
        Some((name, description, enabled))
    })?;
    let mut writing = app.change(&login).await?;
    let mut tenant = writing.tenant_get(id(&path)?).await?.ok_or_else(not_found)?;
    condition.check(tenant.generation)?;
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
    Ok(ApiResponse::ok(TenantView::from(tenant)).version(generation))
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

fn tenant_name(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    string_with_length(1..=255)(node, problems)
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
