//! The parts of a login request that are read; clients send more, and in many shapes.

use stoker_model::Json;

use crate::access::login::{self, Credentials, Session, TenantName};
use crate::access::token::Secret;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// What proves who somebody is.
pub(super) enum Proof {
    Password(Credentials),
    Token(Secret),
}

pub(super) async fn log_in(app: &App, proof: Proof, tenant: &TenantName, peer: Peer) -> ApiResult<Session> {
    match proof {
        Proof::Password(credentials) => login::with_password(&app.access, &credentials, tenant, peer.0).await,
        Proof::Token(secret) => login::with_token(&app.access, &secret, tenant).await,
    }
}

pub(super) fn text<'a>(document: &'a Json, pointer: &str) -> Option<&'a str> {
    document.pointer(pointer)?.as_str()
}

pub(super) fn malformed(expected: &str) -> ApiError {
    ApiError::bad_request(format!("this is no login request: {expected}"))
}
