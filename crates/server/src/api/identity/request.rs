//! Login requests. Unknown fields are ignored: clients send many variants.

use stoker_model::Json;

use crate::access::login::{self, Credentials, Session, TenantName};
use crate::access::token::Secret;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Means of authentication in a login request.
pub(super) enum LoginCredential {
    Password(Credentials),
    Token(Secret),
}

pub(super) async fn log_in(
    app: &App,
    credential: LoginCredential,
    tenant: &TenantName,
    peer: Peer,
) -> ApiResult<Session> {
    match credential {
        LoginCredential::Password(credentials) => {
            login::with_password(&app.access, &credentials, tenant, peer.0).await
        }
        LoginCredential::Token(secret) => login::with_token(&app.access, &secret, tenant).await,
    }
}

pub(super) fn text<'a>(document: &'a Json, pointer: &str) -> Option<&'a str> {
    document.pointer(pointer)?.as_str()
}

pub(super) fn malformed(expected: &str) -> ApiError {
    ApiError::bad_request(format!("invalid login request: {expected}"))
}
