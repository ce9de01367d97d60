//! Keystone v3 API: the operations on `/v3/auth/tokens` that clients of the module API use.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use stoker_api_types::identity::IdentityErrorBody;
use stoker_model::{AuditChange, Json};
use stoker_services::clock;

use super::error::IdentityError;
use super::request::{LoginCredential, log_in, malformed, text};
use crate::access::caller::Authenticated;
use crate::access::login::{Credentials, Session, TenantName};
use crate::access::token::Secret;
use crate::http::body::SmallDocument;
use crate::http::client::{BaseUrl, Peer};
use crate::http::error::{ApiError, ApiResult};
use crate::http::response::{ApiResponse, NoContent};
use crate::state::App;

const SUBJECT_TOKEN: HeaderName = HeaderName::from_static("x-subject-token");

/// Retrieve the Keystone v3 version document
#[utoipa::path(get, path = "/v3", responses((status = 200, body = Json)))]
pub(super) async fn identity_v3_show(reached: BaseUrl) -> ApiResponse<Json> {
    let href = format!("{}/v3/", reached.0);
    ApiResponse::ok(
        json!({"version": {"id": "v3.14", "status": "stable", "links": [{"rel": "self", "href": href}]}}),
    )
}

/// Log in with Keystone v3
///
/// Authenticates with a password or an existing token.
#[utoipa::path(
    post,
    path = "/v3/auth/tokens",
    request_body(content = Json, example = json!({"auth": {
        "identity": {"methods": ["password"], "password": {"user": {
            "name": "demo", "password": "secret", "domain": {"id": "default"}}}},
        "scope": {"project": {"name": "demo", "domain": {"id": "default"}}}
    }})),
    responses(
        (status = 201, body = Json, description = "Logged in; the token is in the header `X-Subject-Token`", headers(
            ("X-Subject-Token" = String, description = "Token"),
        )),
        (status = 400, body = IdentityErrorBody),
        (status = 401, body = IdentityErrorBody),
        (status = 413, body = IdentityErrorBody),
        (status = 429, body = IdentityErrorBody, description = "Too many failed logins"),
        (status = 503, body = IdentityErrorBody),
    )
)]
pub(super) async fn identity_v3_login(
    State(app): State<App>,
    peer: Peer,
    reached: BaseUrl,
    document: Result<SmallDocument, ApiError>,
) -> Result<ApiResponse<Json>, IdentityError> {
    let document = document?.0.json()?;
    let (credential, tenant) = read(&app, &document).await?;
    let method = if matches!(credential, LoginCredential::Password(_)) { "password" } else { "token" };
    let session = log_in(&app, credential, &tenant, peer).await?;
    let secret = HeaderValue::from_str(session.secret.reveal())
        .map_err(|_| ApiError::bad_request("the token is not a valid header value"))?;
    Ok(ApiResponse::created(show(&session, &reached, method)).header(SUBJECT_TOKEN, secret))
}

/// Revoke a token
///
/// The token may be that of the request itself.
#[utoipa::path(
    delete,
    path = "/v3/auth/tokens",
    params(("X-Subject-Token" = String, Header, description = "Token to revoke")),
    responses(
        (status = 204),
        (status = 400, body = IdentityErrorBody),
        (status = 404, body = IdentityErrorBody, description = "Token not found"),
    )
)]
pub(super) async fn identity_v3_revoke(
    State(app): State<App>,
    login: Authenticated,
    headers: HeaderMap,
) -> Result<NoContent, IdentityError> {
    let subject = headers.get(SUBJECT_TOKEN).and_then(|value| value.to_str().ok());
    let subject = subject.ok_or_else(|| {
        ApiError::bad_request("the header `X-Subject-Token` is required: the token to revoke")
    })?;
    let mut writing = app.change(&login).await?;
    let token = writing.token_find(&Secret::new(subject).digest()).await?;
    // No ownership check is needed: the caller knows the secret and could authenticate with it.
    let (token, ..) = token.ok_or_else(|| ApiError::not_found("Token"))?;
    writing.token_delete(token.id).await?;
    let detail = json!({"label": token.label, "user_id": token.user_id.0});
    writing
        .commit(AuditChange { action: "token.delete", target: format!("token {}", token.id), detail })
        .await?;
    app.orchestrator.clear_token_cache();
    Ok(NoContent)
}

async fn read(app: &App, document: &Json) -> ApiResult<(LoginCredential, TenantName)> {
    let tenant = match (text(document, "/auth/scope/project/name"), text(document, "/auth/scope/project/id"))
    {
        (_, Some(id)) => TenantName::WithId(id.to_owned()),
        (Some(name), None) => TenantName::Named(name.to_owned()),
        (None, None) => TenantName::Own,
    };
    if let Some(token) = text(document, "/auth/identity/token/id") {
        return Ok((LoginCredential::Token(Secret::new(token)), tenant));
    }
    let expected = "expected `auth.identity.password.user` with `name` (or `id`) and `password`, or `auth.identity.token.id`";
    let password =
        text(document, "/auth/identity/password/user/password").ok_or_else(|| malformed(expected))?;
    let name = if let Some(name) = text(document, "/auth/identity/password/user/name") {
        name.to_owned()
    } else {
        let id = text(document, "/auth/identity/password/user/id").ok_or_else(|| malformed(expected))?;
        name_of(app, id).await?
    };
    Ok((LoginCredential::Password(Credentials::new(&name, password)), tenant))
}

/// Returns the name of the user with this ID. An unknown ID becomes the empty name, which fails to log in
/// like an unknown name.
async fn name_of(app: &App, id: &str) -> ApiResult<String> {
    let Some(user_id) = stoker_model::UserId::parse(id) else { return Ok(String::new()) };
    let user = app.store.read().await?.user_get(user_id).await?;
    Ok(user.map(|user| user.name).unwrap_or_default())
}

fn show(session: &Session, reached: &BaseUrl, method: &str) -> Json {
    let Session { token, user, tenant, .. } = session;
    let domain = json!({"id": "default", "name": "Default"});
    let roles: Vec<Json> =
        user.roles.iter().map(|role| json!({"id": role.as_str(), "name": role.as_str()})).collect();
    let url = format!("{}/v1.0/{}", reached.0, tenant.id);
    let endpoints: Vec<Json> = ["public", "internal", "admin"]
        .map(|interface| {
            let id = format!("database-{interface}");
            json!({"id": id, "interface": interface, "region": "RegionOne", "region_id": "RegionOne", "url": url})
        })
        .to_vec();
    json!({"token": {
        "methods": [method],
        "issued_at": clock::zoned(token.issued_at),
        "expires_at": clock::zoned(token.expires_at),
        "user": {"id": user.id.to_string(), "name": user.name, "domain": domain},
        "project": {"id": tenant.id.to_string(), "name": tenant.name, "domain": domain},
        "roles": roles,
        "catalog": [{"id": "database", "type": "database", "name": "trove", "endpoints": endpoints}],
    }})
}
