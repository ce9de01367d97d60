//! Keystone v1 authentication with request headers, which clients of the module API use.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use stoker_model::Json;

use super::error::{IdentityError, IdentityErrorBody};
use super::request::{LoginCredential, log_in};
use crate::access::login::{Credentials, TenantName};
use crate::http::response::ApiResponse;
use crate::http::client::{Peer, BaseUrl};
use crate::http::error::ApiError;
use crate::state::App;

/// Log in with request headers
#[utoipa::path(
    get,
    path = "/v1.0/auth",
    params(
        ("X-Auth-User" = String, Header, description = "Name of the user"),
        ("X-Auth-Key" = String, Header, description = "Password of the user"),
    ),
    responses(
        (status = 200, body = Json, description = "Logged in; the token is in the header `X-Auth-Token`", headers(
            ("X-Auth-Token" = String, description = "Token"),
            ("X-Server-Management-Url" = String, description = "Base URL of the module API of the tenant"),
        )),
        (status = 401, body = IdentityErrorBody),
        (status = 429, body = IdentityErrorBody, description = "Too many failed logins"),
        (status = 503, body = IdentityErrorBody),
    )
)]
pub(super) async fn identity_v1_login(
    State(app): State<App>,
    peer: Peer,
    reached: BaseUrl,
    headers: HeaderMap,
) -> Result<ApiResponse<Json>, IdentityError> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(name), Some(password)) = (header("x-auth-user"), header("x-auth-key")) else {
        return Err(ApiError::unauthorized("the headers `X-Auth-User` and `X-Auth-Key` are required").into());
    };
    let credential = LoginCredential::Password(Credentials::new(name, password));
    let session = log_in(&app, credential, &TenantName::Own, peer).await?;
    let url = format!("{}/v1.0/{}", reached.0, session.tenant.id);
    let mut answer = ApiResponse::ok(Json::Null);
    for (name, value) in
        [("x-auth-token", session.secret.reveal()), ("x-server-management-url", url.as_str())]
    {
        if let Ok(value) = HeaderValue::from_str(value) {
            answer = answer.header(HeaderName::from_static(name), value);
        }
    }
    Ok(answer)
}
