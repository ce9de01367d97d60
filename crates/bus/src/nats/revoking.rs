//! Taking users back: NATS is told of the account anew, and cuts them off.

use std::time::Duration;

use async_nats::Client;
use serde_json::Value;

use super::authority::{Authority, AuthorityError, NatsUser, Revocations, Seconds, revocations_of};
use super::options::{NatsAuth, NatsError, NatsOptions, UserKeys};

const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// Another server may tell NATS of the account at the same moment.
const ATTEMPTS_MAX: usize = 5;

/// Why NATS was not told.
#[derive(Debug, thiserror::Error)]
pub enum RevokeError {
    #[error(transparent)]
    Options(#[from] NatsError),
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    #[error("NATS does not answer: {0}")]
    Away(String),
    #[error("NATS does not accept it: {0}")]
    Refused(String),
}

/// Takes back all that was made for a user until `now`. What was taken back before `forgotten` has expired by itself.
pub async fn revoke(
    options: &NatsOptions,
    authority: &Authority,
    system_user: NatsUser,
    user_key: &str,
    now: Seconds,
    forgotten: Seconds,
) -> Result<(), RevokeError> {
    let NatsUser { jwt, seed } = system_user;
    let options = NatsOptions { auth: NatsAuth::Keys(UserKeys::new(jwt, seed)), ..options.clone() };
    let connecting =
        options.prepared()?.connection_timeout(ANSWER_TIME_MAX).request_timeout(Some(ANSWER_TIME_MAX));
    let client = connecting.connect(options.addresses()?).await.map_err(away)?;
    let account = authority.account_key();
    for attempt in 0..ATTEMPTS_MAX {
        let (made_at, mut revoked) = known(&client, &account).await?;
        if attempt > 0 && revoked.get(user_key).is_some_and(|at| *at >= now) {
            return Ok(());
        }
        revoked.retain(|_, at| *at >= forgotten);
        revoked.insert(user_key.to_owned(), now);
        // The newest claim counts, and whoever made the last one may have a clock that is ahead.
        let claim = authority.account_claim(now.max(made_at + 1), &revoked)?;
        let answer = client.request("$SYS.REQ.CLAIMS.UPDATE", claim.into()).await.map_err(away)?;
        let answer: Value = serde_json::from_slice(&answer.payload).unwrap_or_default();
        if let Some(error) = answer.get("error") {
            return Err(RevokeError::Refused(error.to_string()));
        }
    }
    Err(RevokeError::Refused("others change the account all the time".to_owned()))
}

async fn known(client: &Client, account: &str) -> Result<(Seconds, Revocations), RevokeError> {
    let subject = format!("$SYS.REQ.ACCOUNT.{account}.CLAIMS.LOOKUP");
    let answer = client.request(subject, Vec::new().into()).await.map_err(away)?;
    Ok(revocations_of(&String::from_utf8_lossy(&answer.payload)))
}

fn away(error: impl std::fmt::Display) -> RevokeError {
    RevokeError::Away(error.to_string())
}
