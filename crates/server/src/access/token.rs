//! Tokens: random, stored only as a digest.

use std::collections::HashMap;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::RwLock;
use sha2::{Digest, Sha256};
use stoker_model::{Caller, Micros};

/// Prefix that makes leaked tokens recognizable to secret scanners.
const PREFIX: &str = "stk_";
/// Number of cached callers before the cache is cleared.
const CACHED_MAX: usize = 20_000;

/// Text of a token. Its `Debug` output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Creates a token of 256 random bits.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// Reveals the token, for the one response that returns it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Cache of callers by token digest.
///
/// Every change of users, tenants or tokens calls [`TokenCache::forget`], which invalidates all entries,
/// including those of lookups in flight, which have an older epoch.
#[derive(Default)]
pub(crate) struct TokenCache {
    inner: RwLock<Inner>,
}

#[derive(Default)]
struct Inner {
    epoch: u64,
    callers: HashMap<[u8; 32], (Caller, Micros)>,
}

impl TokenCache {
    pub(crate) fn get(&self, digest: &[u8; 32], now: Micros) -> Option<Caller> {
        let inner = self.inner.read();
        let (caller, expires_at) = inner.callers.get(digest)?;
        (*expires_at > now).then(|| caller.clone())
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.inner.read().epoch
    }

    pub(crate) fn put(&self, digest: [u8; 32], caller: &Caller, expires_at: Micros, epoch: u64) {
        let mut inner = self.inner.write();
        if inner.epoch != epoch {
            return;
        }
        if inner.callers.len() >= CACHED_MAX {
            inner.callers.clear();
        }
        inner.callers.insert(digest, (caller.clone(), expires_at));
    }

    pub(crate) fn forget(&self) {
        let mut inner = self.inner.write();
        inner.epoch += 1;
        inner.callers.clear();
    }
}

#[cfg(test)]
mod tests {
    use stoker_model::{Role, TenantId, UserId};

    use super::*;

    fn caller() -> Caller {
        Caller {
            user_id: UserId(1),
            user_name: "u".into(),
            tenant_id: TenantId(1),
            tenant_name: "t".into(),
            roles: vec![Role::Viewer],
        }
    }

    #[test]
    fn invalidation_covers_lookups_in_flight() {
        let cache = TokenCache::default();
        let epoch = cache.epoch();
        cache.put([1; 32], &caller(), Micros(10), epoch);
        assert_eq!(cache.get(&[1; 32], Micros(9)), Some(caller()));
        assert_eq!(cache.get(&[1; 32], Micros(10)), None, "expired");
        cache.forget();
        assert_eq!(cache.get(&[1; 32], Micros(9)), None);
        cache.put([1; 32], &caller(), Micros(10), epoch);
        assert_eq!(cache.get(&[1; 32], Micros(9)), None, "looked up before the revocation");
    }

    #[test]
    fn tokens_are_long_unique_and_redacted() {
        let (one, two) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_ne!(one, two);
        assert_eq!(one.reveal().len(), PREFIX.len() + 43);
        assert!(!format!("{one:?}").contains(&one.reveal()[4..]));
    }
}
