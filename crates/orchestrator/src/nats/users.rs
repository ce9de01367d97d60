//! NATS users for agents: issued on request, revoked with the agent's credential.
//!
//! No user is stored. The key of a user is derived from the keys of the server and the credential of the
//! agent. All servers therefore derive the same key, and an agent that joins again gets a different key.

use std::sync::Arc;

use stoker_bus::NatsOptions;
use stoker_bus::nats::{AuthorityError, NatsAuthority, Permissions, RevokeError, Seconds, revoke, user_key};
use stoker_model::{AgentUid, Micros};
use stoker_wire::nats::{NatsUserCredentials, publish_permissions, subscribe_permissions};

use stoker_services::random;

/// Lifetime of a user JWT. Agents request a new one after half of it.
const LIFE_SECONDS: Seconds = 12 * 3600;
/// Lifetime of the system user, which is used for a single revocation.
const BRIEF_SECONDS: Seconds = 60;
/// Allowance for clock skew between the servers and NATS.
const SLACK_SECONDS: Seconds = 60;

#[derive(Clone)]
pub struct NatsUsers {
    authority: Arc<NatsAuthority>,
    options: NatsOptions,
}

impl NatsUsers {
    pub(super) fn new(authority: NatsAuthority, options: NatsOptions) -> Self {
        Self { authority: Arc::new(authority), options }
    }

    /// Issues a user for the agent whose credential has this digest.
    pub fn issue(
        &self,
        uid: &AgentUid,
        digest: &str,
        now: Micros,
    ) -> Result<NatsUserCredentials, AuthorityError> {
        let key = self.key_of(uid, digest)?;
        let permissions = Permissions {
            publish: publish_permissions(uid, &key),
            subscribe: subscribe_permissions(uid, &key),
        };
        let made_at = seconds(now) - SLACK_SECONDS;
        let expires = seconds(now) + LIFE_SECONDS;
        let bytes = self.bytes(uid, digest)?;
        let user = self.authority.user(
            bytes,
            &format!("agent {uid}"),
            Some(&permissions),
            made_at,
            Some(expires),
        )?;
        let expires_in_seconds = LIFE_SECONDS.unsigned_abs();
        Ok(NatsUserCredentials { jwt: user.jwt, seed: user.seed, key, expires_in_seconds })
    }

    /// Returns the public key of the agent's user.
    pub(crate) fn key_of(&self, uid: &AgentUid, digest: &str) -> Result<String, AuthorityError> {
        user_key(self.bytes(uid, digest)?)
    }

    /// Revokes the agent's user: NATS closes its connections and rejects new ones.
    pub(crate) async fn revoke(&self, uid: &AgentUid, digest: &str, now: Micros) -> Result<(), RevokeError> {
        let now = seconds(now);
        let key = random::bytes().map_err(|error| RevokeError::Unavailable(error.into()))?;
        let system_user = self.authority.system_user(key, now - SLACK_SECONDS, now + BRIEF_SECONDS)?;
        let user = self.key_of(uid, digest)?;
        let forgotten = now - LIFE_SECONDS - SLACK_SECONDS;
        revoke(&self.options, &self.authority, system_user, &user, now + SLACK_SECONDS, forgotten).await
    }

    fn bytes(&self, uid: &AgentUid, digest: &str) -> Result<[u8; 32], AuthorityError> {
        self.authority.derive_secret(&format!("agent {uid} {digest}"))
    }
}

fn seconds(at: Micros) -> Seconds {
    at.0 / Micros::SECOND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_key_is_derived_from_the_credential() {
        let authority = || NatsAuthority::new([1; 32], [2; 32], [3; 32]).unwrap();
        let users = || NatsUsers::new(authority(), NatsOptions::new("nats://a".to_owned()));
        let key = users().key_of(&"7".into(), "aa").unwrap();
        assert_eq!(users().key_of(&"7".into(), "aa").unwrap(), key, "every server makes the same");
        assert_ne!(users().key_of(&"7".into(), "bb").unwrap(), key, "an agent that joined again is another");
        assert_ne!(users().key_of(&"8".into(), "aa").unwrap(), key);
        let user = users().issue(&"7".into(), "aa", Micros(0)).unwrap();
        assert_eq!(user.key, key);
    }
}
