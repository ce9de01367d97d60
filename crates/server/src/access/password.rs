//! Password hashing with Argon2id on blocking threads, with bounded concurrency.

use std::error::Error;
use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

/// Maximum number of concurrent hashes. Each takes 19 MiB and a core; more would starve the rest of the
/// server.
const CONCURRENCY_MAX: usize = 2;

/// Hashes and verifies passwords.
pub(crate) struct Passwords {
    permits: Arc<Semaphore>,
    /// Verified for unknown users, so that the response time does not reveal which names exist.
    decoy: String,
}

/// Error on the server side while hashing a password.
#[derive(Debug, thiserror::Error)]
#[error("hashing a password failed: {0}")]
pub struct HashingFailed(#[source] Box<dyn Error + Send + Sync>);

impl Passwords {
    pub(crate) fn new() -> Result<Self, HashingFailed> {
        Ok(Self { permits: Arc::new(Semaphore::new(CONCURRENCY_MAX)), decoy: hash("decoy")? })
    }

    pub(crate) async fn hash(&self, password: String) -> Result<String, HashingFailed> {
        let permit = self.permit().await;
        let hashing = spawn_blocking(move || {
            let _permit = permit;
            hash(&password)
        });
        hashing.await.map_err(|error| HashingFailed(error.into()))?
    }

    /// Verifies a password; false without a hash.
    pub(crate) async fn matches(&self, password: String, hash: Option<String>) -> bool {
        let permit = self.permit().await;
        let is_known = hash.is_some();
        let hash = hash.unwrap_or_else(|| self.decoy.clone());
        let checking = spawn_blocking(move || {
            let _permit = permit;
            verify(&password, &hash)
        });
        checking.await.unwrap_or(false) && is_known
    }

    /// Acquires a hashing permit. It moves into the blocking task, because a client that disconnects does not
    /// cancel the work.
    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }
}

fn hash(password: &str) -> Result<String, HashingFailed> {
    let hashed = Argon2::default().hash_password(password.as_bytes());
    hashed.map(|hash| hash.to_string()).map_err(|error| HashingFailed(error.into()))
}

fn verify(password: &str, encoded: &str) -> bool {
    PasswordHash::new(encoded)
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_matches() {
        let passwords = Passwords::new().unwrap();
        let hash = passwords.hash("wonder".into()).await.unwrap();
        assert!(hash.starts_with("$argon2id$"));
        assert!(passwords.matches("wonder".into(), Some(hash.clone())).await);
        assert!(!passwords.matches("Wonder".into(), Some(hash)).await);
        assert!(!passwords.matches("decoy".into(), None).await, "no user, no match");
    }
}
