//! Login with a password or an existing token.

use std::fmt;
use std::net::IpAddr;

use axum::http::{HeaderValue, StatusCode, header};
use stoker_model::{Caller, ErrorChain, NewToken, Tenant, Token, User};

use crate::access::control::AccessControl;
use crate::access::token::Secret;
use crate::http::error::{ApiError, ApiResult};

/// User name and password.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) name: String,
    password: String,
}

impl Credentials {
    pub(crate) fn new(name: &str, password: &str) -> Self {
        Self { name: name.to_owned(), password: password.to_owned() }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({}, …)", self.name)
    }
}

/// Tenant named in a login request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TenantName {
    Own,
    Named(String),
    /// Tenant ID as text.
    WithId(String),
}

impl TenantName {
    /// Reports whether the tenant matches the requested one. A user belongs to one tenant; a login with
    /// another tenant fails like a wrong password.
    fn fits(&self, tenant: &Tenant) -> bool {
        match self {
            Self::Own => true,
            Self::Named(name) => *name == tenant.name,
            Self::WithId(id) => *id == tenant.id.to_string(),
        }
    }
}

/// A successful login.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) secret: Secret,
    pub(crate) token: Token,
    pub(crate) user: User,
    pub(crate) tenant: Tenant,
}

pub(crate) fn caller(user: &User, tenant: &Tenant) -> Caller {
    Caller {
        user_id: user.id,
        user_name: user.name.clone(),
        tenant_id: tenant.id,
        tenant_name: tenant.name.clone(),
        roles: user.roles.clone(),
    }
}

/// Verifies a password, rate-limited after failures.
pub(crate) async fn check(
    access: &AccessControl,
    credentials: &Credentials,
    peer: IpAddr,
) -> ApiResult<(User, Tenant)> {
    let now = access.context.clock.now();
    if let Err(seconds) = access.failures.begin(&credentials.name, peer, now) {
        access.metrics.login("throttled");
        return Err(too_many(seconds));
    }
    let (account, hash) = account(access, &credentials.name).await?;
    let matches = access.passwords.matches(credentials.password.clone(), hash).await;
    if let Some(found) = account.filter(|(user, tenant)| matches && user.enabled && tenant.enabled) {
        access.failures.succeeded(&credentials.name, peer);
        access.metrics.login("success");
        return Ok(found);
    }
    access.metrics.login("failure");
    tracing::warn!(user.name = credentials.name, peer = %peer, "login failed");
    Err(ApiError::unauthorized("wrong user name or password"))
}

async fn account(access: &AccessControl, name: &str) -> ApiResult<(Option<(User, Tenant)>, Option<String>)> {
    let mut session = access.context.store.read().await?;
    let Some(user) = session.user_by_name(name).await? else { return Ok((None, None)) };
    let hash = session.user_password_hash(user.id).await?;
    let tenant = session.tenant_get(user.tenant_id).await?;
    Ok((tenant.map(|tenant| (user, tenant)), hash))
}

fn too_many(seconds: i64) -> ApiError {
    let wait = HeaderValue::from(seconds);
    let message = format!("too many failed logins; try again in {seconds} s");
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, message).with_header(header::RETRY_AFTER, wait)
}

/// Issues a token for a user with a password.
pub(crate) async fn with_password(
    access: &AccessControl,
    credentials: &Credentials,
    tenant_name: &TenantName,
    peer: IpAddr,
) -> ApiResult<Session> {
    let (user, tenant) = check(access, credentials, peer).await?;
    if !tenant_name.fits(&tenant) {
        return Err(wrong_tenant());
    }
    issue(access, user, tenant).await
}

/// Logs in with a token and returns the same token. Its lifetime is not extended, and revoking it stays
/// effective.
pub(crate) async fn with_token(
    access: &AccessControl,
    secret: &Secret,
    tenant_name: &TenantName,
) -> ApiResult<Session> {
    let record = access.context.store.read().await?.token_find(&secret.digest()).await?;
    let now = access.context.clock.now();
    let valid =
        record.filter(|(token, user, tenant)| token.expires_at > now && user.enabled && tenant.enabled);
    let Some((token, user, tenant)) = valid else {
        return Err(ApiError::unauthorized("the token is unknown, expired or revoked"));
    };
    if !tenant_name.fits(&tenant) {
        return Err(wrong_tenant());
    }
    Ok(Session { secret: secret.clone(), token, user, tenant })
}

fn wrong_tenant() -> ApiError {
    ApiError::unauthorized("the user does not belong to this tenant")
}

async fn issue(access: &AccessControl, user: User, tenant: Tenant) -> ApiResult<Session> {
    let secret = random_secret()?;
    let issued_at = access.context.clock.now();
    let new = NewToken {
        user_id: user.id,
        tenant_id: tenant.id,
        label: None,
        digest: secret.digest(),
        issued_at,
        expires_at: issued_at.plus_seconds(access.context.settings.token_seconds),
    };
    let token = access.context.store.token_issue(&new).await?;
    Ok(Session { secret, token, user, tenant })
}

pub(crate) fn random_secret() -> ApiResult<Secret> {
    Secret::random().map_err(|error| {
        tracing::error!(error = %ErrorChain(&error), "the system random source failed");
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "cannot generate a token: the system random source failed",
        )
    })
}
