//! Keystone v2.0 API, as used by python-fuelclient.

use axum::extract::State;
use serde_json::json;
use stoker_model::Json;
use stoker_services::clock;

use super::error::{IdentityError, IdentityErrorBody};
use super::request::{LoginCredential, log_in, malformed, text};
use crate::access::login::{Credentials, Session, TenantName};
use crate::access::token::Secret;
use crate::http::response::ApiResponse;
use crate::http::body::SmallDocument;
use crate::http::client::{Peer, BaseUrl};
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Retrieve the Keystone v2.0 version document
#[utoipa::path(get, path = "/keystone/v2.0", responses((status = 200, body = Json)))]
pub(super) async fn identity_v2_show(reached: BaseUrl) -> ApiResponse<Json> {
    let href = format!("{}/keystone/v2.0/", reached.0);
    ApiResponse::ok(
        json!({"version": {"id": "v2.0", "status": "stable", "links": [{"rel": "self", "href": href}]}}),
    )
}

/// Log in with Keystone v2.0
///
/// Authenticates with a password or an existing token.
#[utoipa::path(
    post,
    path = "/keystone/v2.0/tokens",
    request_body(content = Json, example = json!(
        {"auth": {"tenantName": "admin", "passwordCredentials": {"username": "admin", "password": "secret"}}}
    )),
    responses(
        (status = 200, body = Json, description = "`access.token.id` is the token"),
        (status = 400, body = IdentityErrorBody),
        (status = 401, body = IdentityErrorBody),
        (status = 413, body = IdentityErrorBody),
        (status = 429, body = IdentityErrorBody, description = "Too many failed logins"),
        (status = 503, body = IdentityErrorBody),
    )
)]
pub(super) async fn identity_v2_login(
    State(app): State<App>,
    peer: Peer,
    reached: BaseUrl,
    document: Result<SmallDocument, ApiError>,
) -> Result<ApiResponse<Json>, IdentityError> {
    let (credential, tenant) = read(&document?.0.json()?)?;
    let session = log_in(&app, credential, &tenant, peer).await?;
    Ok(ApiResponse::ok(show(&session, &reached)))
}

fn read(document: &Json) -> ApiResult<(LoginCredential, TenantName)> {
    let tenant = match (text(document, "/auth/tenantName"), text(document, "/auth/tenantId")) {
        (Some(name), _) => TenantName::Named(name.to_owned()),
        (None, Some(id)) => TenantName::WithId(id.to_owned()),
        (None, None) => TenantName::Own,
    };
    let name = text(document, "/auth/passwordCredentials/username");
    let password = text(document, "/auth/passwordCredentials/password");
    let token = text(document, "/auth/token/id");
    match (name, password, token) {
        (Some(name), Some(password), _) => {
            Ok((LoginCredential::Password(Credentials::new(name, password)), tenant))
        }
        (_, _, Some(token)) => Ok((LoginCredential::Token(Secret::new(token)), tenant)),
        _ => Err(malformed(
            "expected `auth.passwordCredentials` with `username` and `password`, or `auth.token.id`",
        )),
    }
}

fn show(session: &Session, reached: &BaseUrl) -> Json {
    let Session { secret, token, user, tenant } = session;
    let roles: Vec<Json> = user.roles.iter().map(|role| json!({"name": role.as_str()})).collect();
    let url = format!("{}/v1.0/{}", reached.0, tenant.id);
    json!({"access": {
        "token": {
            "id": secret.reveal(),
            "issued_at": clock::whole_seconds(token.issued_at),
            "expires": clock::whole_seconds(token.expires_at),
            "tenant": {
                "id": tenant.id.to_string(), "name": tenant.name, "enabled": tenant.enabled,
                "description": tenant.description,
            },
        },
        "user": {
            "id": user.id.to_string(), "name": user.name, "username": user.name, "roles": roles, "roles_links": [],
        },
        "serviceCatalog": [{
            "type": "database", "name": "trove", "endpoints_links": [],
            "endpoints": [{
                "id": "database", "region": "RegionOne", "publicURL": url, "internalURL": url, "adminURL": url,
            }],
        }],
        "metadata": {"is_admin": 0, "roles": []},
    }})
}
