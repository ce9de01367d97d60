//! Agreement on module keys: every server must be able to decrypt values that other servers encrypted.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stoker_model::{Actor, AuditChange, EncryptedContents, Micros};
use stoker_store::{Store, StoreError};

use super::keys::{KeyError, ModuleKeys};

/// Name of the shared value, an encrypted constant that every server decrypts at start.
pub const MARK: &str = "module_key";
/// Plaintext of the encrypted constant.
const TEXT: &str = "stoker";
/// Time in seconds since its last heartbeat within which a server counts as running.
const SEEN_SECONDS: i64 = 60;

/// Error while checking that this server and the others use the same module keys.
#[derive(Debug, thiserror::Error)]
pub enum AgreementError {
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Keys(#[from] KeyError),
}

/// Returns the encrypted constant.
pub fn mark(keys: &ModuleKeys) -> Result<String, KeyError> {
    let sealed = keys.seal(TEXT)?;
    Ok(format!("{} {}", sealed.key, STANDARD.encode(&sealed.bytes)))
}

/// Verifies that this server can decrypt values of the other servers. If no value is encrypted yet and no
/// other server runs, the keys of this server become the agreed keys.
pub async fn agree(
    store: &Store,
    keys: &ModuleKeys,
    has_encrypted_data: bool,
    now: Micros,
) -> Result<(), AgreementError> {
    let agreed = store.shared_value_agree(MARK, &mark(keys)?, now).await?;
    if can_decrypt(keys, &agreed) {
        return Ok(());
    }
    let servers = store.read().await?.servers().await?;
    let seen_since = now.plus_seconds(-SEEN_SECONDS);
    if has_encrypted_data || servers.iter().any(|server| server.heartbeat_at > seen_since) {
        return Err(KeyError::Foreign { path: keys.path_text() }.into());
    }
    let mut writing = store.begin_write(&Actor::server(), now).await?;
    writing.shared_value_put(MARK, &mark(keys)?).await?;
    let (action, target) = ("module.change_key", "modules".to_owned());
    writing.commit(AuditChange { action, target, detail: serde_json::json!({}) }).await?;
    Ok(())
}

fn can_decrypt(keys: &ModuleKeys, mark: &str) -> bool {
    let Some((key, bytes)) = mark.split_once(' ') else { return false };
    let Ok(bytes) = STANDARD.decode(bytes) else { return false };
    keys.unseal(&EncryptedContents { key: key.to_owned(), bytes }).is_ok_and(|text| text == TEXT)
}

#[cfg(test)]
mod tests {
    use stoker_model::ServerRecord;
    use stoker_store::Database;
    use stoker_testkit::TempFolder;

    use super::*;

    const NOW: Micros = Micros(1_000_000_000);

    #[tokio::test]
    async fn server_with_different_keys_is_rejected_while_others_run() {
        let folder = TempFolder::new();
        let store = Store::open(&Database::Sqlite { path: folder.file("db") }).await.unwrap();
        let ours = ModuleKeys::open(&folder.file("ours"), false).unwrap();
        let theirs = ModuleKeys::open(&folder.file("theirs"), false).unwrap();
        agree(&store, &ours, false, NOW).await.unwrap();
        agree(&store, &ours, true, NOW).await.unwrap();
        let refused = agree(&store, &theirs, true, NOW).await.unwrap_err();
        assert!(refused.to_string().contains("put the same file"), "{refused}");
        let member = ServerRecord {
            id: "a".to_owned(),
            name: String::new(),
            address: String::new(),
            version: String::new(),
            receives_bus: false,
            started_at: NOW,
            heartbeat_at: NOW,
        };
        store.server_heartbeat(&member).await.unwrap();
        assert!(agree(&store, &theirs, false, NOW).await.is_err());
        // The other server has stopped, and no value is encrypted with its keys.
        agree(&store, &theirs, false, NOW.plus_seconds(SEEN_SECONDS)).await.unwrap();
        assert!(agree(&store, &ours, true, NOW).await.is_err());
        store.close().await;
    }
}
