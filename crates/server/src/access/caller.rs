//! Authentication: from request headers to a caller.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use stoker_model::{Actor, Caller, Permission, TenantId};
use stoker_orchestrator::OrchestratorContext;
use stoker_services::{Principal, TenantScope};
use stoker_store::StoreError;

use crate::access::control::AccessControl;
use crate::access::login::{self, Credentials};
use crate::access::token::Secret;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};

/// Result of authenticating a request.
#[derive(Clone, Debug)]
pub(crate) enum Login {
    Missing,
    /// The token or password is invalid.
    Wrong,
    Is(Caller),
    /// Authentication failed for another reason, such as an unavailable database. Public operations ignore it.
    Unknown(ApiError),
}

impl Login {
    pub(crate) fn require(&self, permission: Permission) -> ApiResult<&Caller> {
        match self {
            Self::Missing => {
                Err(ApiError::unauthorized("authentication required: send a token in `X-Auth-Token`"))
            }
            Self::Wrong => Err(ApiError::unauthorized("the token is unknown, expired or revoked")),
            Self::Unknown(error) => Err(error.clone()),
            Self::Is(caller) if caller.has_permission(permission) => Ok(caller),
            Self::Is(caller) => Err(ApiError::forbidden(format!(
                "user `{}` lacks the permission `{permission}`",
                caller.user_name
            ))),
        }
    }
}

/// The authenticated caller, as a handler argument.
#[derive(Clone, Debug)]
pub(crate) struct Authenticated {
    pub(crate) caller: Caller,
    peer: Peer,
}

impl Authenticated {
    /// Returns the actor for the audit log.
    pub(crate) fn actor(&self) -> Actor {
        Actor {
            user_id: Some(self.caller.user_id),
            user_name: self.caller.user_name.clone(),
            address: Some(self.peer.0.to_string()),
        }
    }

    /// Reports whether resources of this tenant are visible to the caller.
    pub(crate) fn may_see(&self, tenant_id: TenantId) -> bool {
        self.tenant_scope().contains(tenant_id)
    }

    /// Returns the caller as use cases know it.
    pub(crate) fn principal(&self) -> Principal {
        Principal { actor: self.actor(), tenants: self.tenant_scope() }
    }

    pub(crate) fn tenant_scope(&self) -> TenantScope {
        self.tenant_limit().map_or(TenantScope::All, TenantScope::Only)
    }

    /// Returns the tenant that the caller is restricted to, if any.
    pub(crate) fn tenant_limit(&self) -> Option<TenantId> {
        self.caller.tenant_limit()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(peer) = Peer::from_request_parts(parts, state).await;
        let login = parts.extensions.get::<Login>().unwrap_or(&Login::Missing);
        let caller = login.require(Permission::Own)?.clone();
        Ok(Self { caller, peer })
    }
}

/// Authenticates a request. Authorization happens where the operation is declared.
pub(crate) async fn identify(
    State(access): State<Arc<AccessControl>>,
    mut request: Request,
    next: Next,
) -> Response {
    let peer = request
        .extensions()
        .get::<axum::extract::ConnectInfo<std::net::SocketAddr>>()
        .map(|info| info.0.ip());
    let peer = peer.unwrap_or(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));
    let login = login_of(&access, request.headers(), peer).await;
    request.extensions_mut().insert(login);
    next.run(request).await
}

/// Authenticates request headers.
pub(crate) async fn login_of(access: &AccessControl, headers: &HeaderMap, peer: std::net::IpAddr) -> Login {
    let login = match presented(headers) {
        None => Ok(Login::Missing),
        Some(Presented::Token(secret)) => by_token(access, &secret).await.map_err(ApiError::from),
        Some(Presented::Password(credentials)) => by_password(access, &credentials, peer).await,
        Some(Presented::Malformed) => Ok(Login::Wrong),
    };
    login.unwrap_or_else(Login::Unknown)
}

/// Looks up a token, in the cache first.
async fn by_token(access: &AccessControl, secret: &Secret) -> Result<Login, StoreError> {
    let OrchestratorContext { store, clock, .. } = &access.context;
    let now = clock.now();
    let digest = secret.digest();
    if let Some(caller) = access.tokens.get(&digest, now) {
        return Ok(Login::Is(caller));
    }
    let epoch = access.tokens.epoch();
    let record = store.read().await?.token_find(&digest).await?;
    let valid =
        record.filter(|(token, user, tenant)| token.expires_at > now && user.enabled && tenant.enabled);
    Ok(valid.map_or(Login::Wrong, |(token, user, tenant)| {
        let caller = login::caller(&user, &tenant);
        let until = access.context.cacheable_until(token.expires_at, now);
        access.tokens.put(digest, &caller, until, epoch);
        Login::Is(caller)
    }))
}

async fn by_password(
    access: &AccessControl,
    credentials: &Credentials,
    peer: std::net::IpAddr,
) -> ApiResult<Login> {
    match login::check(access, credentials, peer).await {
        Ok((user, tenant)) => Ok(Login::Is(login::caller(&user, &tenant))),
        Err(error) if error.status() == axum::http::StatusCode::UNAUTHORIZED => Ok(Login::Wrong),
        Err(error) => Err(error),
    }
}

enum Presented {
    Token(Secret),
    Password(Credentials),
    Malformed,
}

/// Reads `X-Auth-Token`, else `Authorization: Bearer` or `Basic`. Fuel clients without login send an empty token.
fn presented(headers: &HeaderMap) -> Option<Presented> {
    if let Some(value) = headers.get("x-auth-token").filter(|value| !value.is_empty()) {
        return Some(value.to_str().map_or(Presented::Malformed, |text| Presented::Token(Secret::new(text))));
    }
    let value = headers.get(header::AUTHORIZATION)?;
    Some(authorization(value.to_str().unwrap_or_default()).unwrap_or(Presented::Malformed))
}

fn authorization(text: &str) -> Option<Presented> {
    let (scheme, rest) = text.trim().split_once(' ')?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Some(Presented::Token(Secret::new(rest.trim()))),
        "basic" => {
            let decoded = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
            let (name, password) = decoded.split_once(':')?;
            Some(Presented::Password(Credentials::new(name, password)))
        }
        _ => None,
    }
}
