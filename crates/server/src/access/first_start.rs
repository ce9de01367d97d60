//! First start: creates the first user.

use stoker_model::{Actor, AuditChange, NewTenant, NewUser, Role};
use stoker_services::Clock;
use stoker_store::{Store, StoreError};

use crate::access::password::{HashingFailed, Passwords};

/// Name of the first user, and of its tenant.
pub const ADMIN: &str = "admin";

/// Origin of the password of the first user, to report to the operator.
#[derive(Debug, PartialEq, Eq)]
pub enum FirstStart {
    /// Users exist already.
    No,
    /// The password was configured.
    Given,
    /// The password was generated; it is shown only now.
    Generated { password: String },
}

/// Error while creating the first user.
#[derive(Debug, thiserror::Error)]
pub enum FirstStartFailed {
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error("cannot generate a password: {0}")]
    Random(#[source] getrandom::Error),
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
}

/// Creates tenant and user `admin` in an empty database. If two servers start concurrently, only one of them
/// creates both.
pub(crate) async fn run(
    store: &Store,
    passwords: &Passwords,
    clock: Clock,
    password: Option<String>,
) -> Result<FirstStart, FirstStartFailed> {
    if store.read().await?.user_by_name(ADMIN).await?.is_some() || has_users(store).await? {
        return Ok(FirstStart::No);
    }
    let (password, outcome) = if let Some(password) = password {
        (password, FirstStart::Given)
    } else {
        let password = random_password()?;
        (password.clone(), FirstStart::Generated { password })
    };
    let password_hash = passwords.hash(password).await?;
    match create(store, clock, password_hash).await {
        Ok(()) => Ok(outcome),
        Err(StoreError::AlreadyExists { .. }) => Ok(FirstStart::No),
        Err(error) => Err(error.into()),
    }
}

async fn has_users(store: &Store) -> Result<bool, StoreError> {
    let one = stoker_store::List { limit: Some(1), ..Default::default() };
    Ok(store.read().await?.user_list(&one).await?.total > 0)
}

async fn create(store: &Store, clock: Clock, password_hash: String) -> Result<(), StoreError> {
    let mut writing = store.begin_write(&Actor::server(), clock.now()).await?;
    let tenant = writing
        .tenant_create(&NewTenant { name: ADMIN.to_owned(), description: None, enabled: true })
        .await?;
    let user = writing
        .user_create(&NewUser {
            tenant_id: tenant.id,
            name: ADMIN.to_owned(),
            roles: vec![Role::Admin],
            enabled: true,
            password_hash,
        })
        .await?;
    let target = format!("user {}", user.id);
    writing
        .commit(AuditChange { action: "user.create", target, detail: serde_json::json!({"name": ADMIN}) })
        .await
}

/// Returns a password of twenty characters without look-alikes: about 115 bits.
fn random_password() -> Result<String, FirstStartFailed> {
    const ALPHABET: &[u8; 56] = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    const LENGTH: usize = 20;
    let mut password = String::with_capacity(LENGTH);
    while password.len() < LENGTH {
        let mut bytes = [0; 64];
        getrandom::fill(&mut bytes).map_err(FirstStartFailed::Random)?;
        // Rejection sampling: bytes beyond the last full multiple of the alphabet would bias the result.
        let fair = bytes.iter().filter(|byte| usize::from(**byte) < 256 / ALPHABET.len() * ALPHABET.len());
        let letters = fair.map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]));
        password.extend(letters.take(LENGTH - password.len()));
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_passwords_are_long_and_unique() {
        let (one, two) = (random_password().unwrap(), random_password().unwrap());
        assert_eq!(one.len(), 20);
        assert_ne!(one, two);
    }
}
