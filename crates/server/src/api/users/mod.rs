//! Users and their roles.

mod password;
mod view;

use axum::extract::State;
use serde_json::json;
use stoker_api_types::Request as _;
use stoker_api_types::users::{UserBody, UserView};
use stoker_model::{AuditChange, NewUser, Permission, Role, Tenant, User, UserId};
use stoker_services::tenants::find_tenant;
use stoker_store::{List, Session, StoreError};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::view::render_user;
use crate::access::caller::Authenticated;
use crate::api::routes::Routes;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::http::list::{Paging, list};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

/// Fields of responses that an update may repeat, but not change.
const READ_ONLY: &[&str] = &["id", "tenant_id", "created_at"];

pub(crate) fn routes() -> OpenApiRouter<App> {
    Routes::new("users")
        .add(Permission::Administer, routes!(user_list))
        .add(Permission::Administer, routes!(user_create))
        .add(Permission::Own, routes!(user_show_own))
        .add_unversioned(Permission::Own, routes!(password::user_change_own_password))
        .add(Permission::Administer, routes!(user_show))
        .add(Permission::Administer, routes!(user_update))
        .add(Permission::Administer, routes!(user_delete))
        .finish()
}

/// List users
#[utoipa::path(get, path = "/api/v1/users", params(Paging), responses((status = 200, body = [UserView])))]
async fn user_list(State(app): State<App>, mut query: Query) -> ApiResult<ApiResponse<Vec<UserView>>> {
    let list = list(&mut query);
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let page = session.user_list(&list).await?;
    let tenants = session.tenant_list(&List::default()).await?.items;
    ApiResponse::page(&list, page, |user| {
        let tenant = tenants.iter().find(|tenant| tenant.id == user.tenant_id);
        render_user(&user, tenant)
    })
}

/// Create a user
#[utoipa::path(post, path = "/api/v1/users", request_body = UserBody, responses((status = 201, body = UserView)))]
async fn user_create(
    State(app): State<App>,
    login: Authenticated,
    document: Document,
) -> ApiResult<ApiResponse<UserView>> {
    let (name, password, tenant, roles, enabled) = document.fields(|fields| {
        fields.require(&["name", "password", "tenant", "roles"]);
        let body = UserBody::read(fields)?;
        Some((body.name?, body.password?, body.tenant?, body.roles?, body.enabled.unwrap_or(true)))
    })?;
    let password_hash = app.access.hash(password).await?;
    let mut writing = app.change(&login).await?;
    let tenant = find_tenant(&mut writing, &tenant).await?;
    let new = NewUser { tenant_id: tenant.id, name, roles, enabled, password_hash };
    let user = writing.user_create(&new).await.map_err(|error| duplicate_error(error, &new.name))?;
    writing.commit(change("user.create", &user)).await?;
    Ok(answer(&user, Some(&tenant), ApiResponse::created))
}

/// Retrieve the current user
#[utoipa::path(get, path = "/api/v1/users/me", responses((status = 200, body = UserView)))]
async fn user_show_own(State(app): State<App>, login: Authenticated) -> ApiResult<ApiResponse<UserView>> {
    show(&app, login.caller.user_id).await
}

/// Retrieve a user
#[utoipa::path(
    get, path = "/api/v1/users/{id}", params(("id" = i64, Path)),
    responses((status = 200, body = UserView))
)]
async fn user_show(State(app): State<App>, path: PathParams) -> ApiResult<ApiResponse<UserView>> {
    show(&app, id(&path)?).await
}

async fn show(app: &App, user_id: UserId) -> ApiResult<ApiResponse<UserView>> {
    let mut session = app.store.snapshot().await?;
    let user = session.user_get(user_id).await?.ok_or_else(not_found)?;
    let tenant = session.tenant_get(user.tenant_id).await?;
    Ok(answer(&user, tenant.as_ref(), ApiResponse::ok))
}

/// Update a user
///
/// Omitted fields are unchanged. All tokens of the user are revoked. Fails if it would remove the last admin.
#[utoipa::path(
    put, path = "/api/v1/users/{id}", params(("id" = i64, Path)), request_body = UserBody,
    responses((status = 200, body = UserView))
)]
async fn user_update(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
    document: Document,
) -> ApiResult<ApiResponse<UserView>> {
    let UserBody { name, password, tenant, roles, enabled } = document.fields(|fields| {
        fields.ignore(READ_ONLY);
        UserBody::read(fields)
    })?;
    let password_hash = match password {
        Some(password) => Some(app.access.hash(password).await?),
        None => None,
    };
    let mut writing = app.change(&login).await?;
    let mut user = writing.user_get(id(&path)?).await?.ok_or_else(not_found)?;
    condition.check(user.generation)?;
    let current = writing.tenant_get(user.tenant_id).await?;
    document.check_read_only(READ_ONLY, &render_user(&user, current.as_ref()))?;
    let tenant = match tenant {
        Some(tenant) => Some(find_tenant(&mut writing, &tenant).await?),
        None => current,
    };
    user.tenant_id = tenant.as_ref().map_or(user.tenant_id, |tenant| tenant.id);
    user.name = name.unwrap_or(user.name);
    user.roles = roles.unwrap_or(user.roles);
    user.enabled = enabled.unwrap_or(user.enabled);
    let user = writing.user_update(&user).await.map_err(|error| duplicate_error(error, &user.name))?;
    if let Some(password_hash) = &password_hash {
        writing.user_set_password(user.id, password_hash).await?;
    }
    // Existing tokens carry the previous tenant, or were issued for the previous password.
    writing.tokens_delete_of_user(user.id).await?;
    require_enabled_admin(&mut writing).await?;
    writing.commit(change("user.update", &user)).await?;
    app.orchestrator.clear_token_cache();
    Ok(answer(&user, tenant.as_ref(), ApiResponse::ok))
}

/// Delete a user
///
/// Deletes the user and revokes all of its tokens. Fails if the user is the last admin.
#[utoipa::path(delete, path = "/api/v1/users/{id}", params(("id" = i64, Path)), responses((status = 204)))]
async fn user_delete(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    condition: IfMatch,
) -> ApiResult<NoContent> {
    let mut writing = app.change(&login).await?;
    let user = writing.user_get(id(&path)?).await?.ok_or_else(not_found)?;
    condition.check(user.generation)?;
    writing.user_delete(user.id).await?;
    require_enabled_admin(&mut writing).await?;
    writing.commit(change("user.delete", &user)).await?;
    app.orchestrator.clear_token_cache();
    Ok(NoContent)
}

/// Rejects changes that leave no enabled admin: the server could not be administered.
pub(in crate::api) async fn require_enabled_admin(session: &mut Session) -> ApiResult<()> {
    let users = session.user_list(&List::default()).await?.items;
    let tenants = session.tenant_list(&List::default()).await?.items;
    let can_log_in = |user: &User| tenants.iter().any(|tenant| tenant.id == user.tenant_id && tenant.enabled);
    if users.iter().any(|user| user.enabled && user.roles.contains(&Role::Admin) && can_log_in(user)) {
        Ok(())
    } else {
        Err(ApiError::conflict("cannot remove the last enabled admin; create another admin first"))
    }
}

fn answer(
    user: &User,
    tenant: Option<&Tenant>,
    make: fn(UserView) -> ApiResponse<UserView>,
) -> ApiResponse<UserView> {
    make(render_user(user, tenant)).version(user.generation)
}

fn change(action: &'static str, user: &User) -> AuditChange {
    let roles: Vec<&str> = user.roles.iter().map(|role| role.as_str()).collect();
    AuditChange {
        action,
        target: format!("user {}", user.id),
        detail: json!({"name": user.name, "roles": roles}),
    }
}

fn id(path: &PathParams) -> ApiResult<UserId> {
    path.id("id", UserId, "User")
}

fn not_found() -> ApiError {
    ApiError::not_found("User")
}

fn duplicate_error(error: StoreError, name: &str) -> ApiError {
    match error {
        StoreError::AlreadyExists { .. } => ApiError::conflict(format!("user `{name}` already exists")),
        error => error.into(),
    }
}
