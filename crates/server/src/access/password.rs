//! Passwords: Argon2id, off the threads that answer requests, a few at a time.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

/// Each takes 19 MiB and a core for a while; more at once would only starve the rest.
const AT_ONCE_MAX: usize = 2;

/// Hashes and checks passwords.
pub(crate) struct Passwords {
    turns: Arc<Semaphore>,
    /// Checked when there is no such user, so that the time taken tells nobody which names exist.
    decoy: String,
}

/// Hashing failed for a reason that is no user's fault.
#[derive(Debug, thiserror::Error)]
#[error("hashing a password failed: {0}")]
pub(crate) struct HashingFailed(String);

impl Passwords {
    pub(crate) fn new() -> Result<Self, HashingFailed> {
        Ok(Self { turns: Arc::new(Semaphore::new(AT_ONCE_MAX)), decoy: hash("decoy")? })
    }

    pub(crate) async fn hash(&self, password: String) -> Result<String, HashingFailed> {
        let turn = self.turn().await;
        let hashing = spawn_blocking(move || {
            let _turn = turn;
            hash(&password)
        });
        hashing.await.map_err(|error| HashingFailed(error.to_string()))?
    }

    /// Whether the password is the one that was hashed; never true without a hash.
    pub(crate) async fn matches(&self, password: String, known: Option<String>) -> bool {
        let turn = self.turn().await;
        let is_known = known.is_some();
        let known = known.unwrap_or_else(|| self.decoy.clone());
        let checking = spawn_blocking(move || {
            let _turn = turn;
            verify(&password, &known)
        });
        checking.await.unwrap_or(false) && is_known
    }

    /// Given back by the work itself: a client that hangs up stops waiting, not the work.
    async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }
}

fn hash(password: &str) -> Result<String, HashingFailed> {
    let hashed = Argon2::default().hash_password(password.as_bytes());
    hashed.map(|hash| hash.to_string()).map_err(|error| HashingFailed(error.to_string()))
}

fn verify(password: &str, known: &str) -> bool {
    PasswordHash::new(known)
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
