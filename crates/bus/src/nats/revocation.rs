//! Revocation of users by updating the account claim in NATS, which then disconnects them.

use std::time::Duration;

use async_nats::Client;
use serde_json::Value;

use super::authority::{AuthorityError, NatsAuthority, NatsUser, Revocations, Seconds, revocations_of};
use super::options::{NatsAuth, NatsError, NatsOptions, UserKeys};
use crate::error::BoxedError;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of attempts, because another server may update the account concurrently.
const ATTEMPTS_MAX: usize = 5;

/// Error while revoking a user.
#[derive(Debug, thiserror::Error)]
pub enum RevokeError {
    #[error(transparent)]
    Options(#[from] NatsError),
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    #[error("no response from NATS: {0}")]
    Unavailable(#[source] BoxedError),
    #[error("NATS rejected the account update: {0}")]
    Refused(String),
}

/// Revokes all JWTs of a user issued until `now`. Revocations older than `keep_since` are dropped: those JWTs
/// have expired.
pub async fn revoke(
    options: &NatsOptions,
    authority: &NatsAuthority,
    system_user: NatsUser,
    user_key: &str,
    now: Seconds,
    keep_since: Seconds,
) -> Result<(), RevokeError> {
    let NatsUser { jwt, seed } = system_user;
    let options = NatsOptions { auth: NatsAuth::Keys(UserKeys::new(jwt, seed)), ..options.clone() };
    let connecting =
        options.connect_options()?.connection_timeout(REQUEST_TIMEOUT).request_timeout(Some(REQUEST_TIMEOUT));
    let client = connecting.connect(options.addresses()?).await.map_err(away)?;
    let account = authority.account_key();
    for attempt in 0..ATTEMPTS_MAX {
        let (issued_at, mut revoked) = current_revocations(&client, &account).await?;
        if attempt > 0 && revoked.get(user_key).is_some_and(|at| *at >= now) {
            return Ok(());
        }
        revoked.retain(|_, at| *at >= keep_since);
        revoked.insert(user_key.to_owned(), now);
        // NATS accepts only newer claims, and the previous issuer's clock may be ahead.
        let claim = authority.account_claim(now.max(issued_at + 1), &revoked)?;
        let answer = client.request("$SYS.REQ.CLAIMS.UPDATE", claim.into()).await.map_err(away)?;
        let answer: Value = serde_json::from_slice(&answer.payload).unwrap_or_default();
        if let Some(refusal) = answer.get("error") {
            return Err(RevokeError::Refused(refusal.to_string()));
        }
    }
    Err(RevokeError::Refused("too many concurrent updates of the account".to_owned()))
}

async fn current_revocations(client: &Client, account: &str) -> Result<(Seconds, Revocations), RevokeError> {
    let subject = format!("$SYS.REQ.ACCOUNT.{account}.CLAIMS.LOOKUP");
    let answer = client.request(subject, Vec::new().into()).await.map_err(away)?;
    Ok(revocations_of(&String::from_utf8_lossy(&answer.payload)))
}

fn away(error: impl Into<BoxedError>) -> RevokeError {
    RevokeError::Unavailable(error.into())
}
