//! The keys of modules: what one server seals, all others have to open.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stoker_model::{Actor, Change, Micros, Sealed};
use stoker_store::{Store, StoreError};

use super::keys::{KeyError, ModuleKeys};

/// The name of something sealed that every server tries to open when it starts.
pub const MARK: &str = "module_key";
/// What is in it.
const TEXT: &str = "stoker";
/// A server that was seen since then may be there still.
const SEEN_SECONDS: i64 = 60;

/// Why this server and the others do not have the same keys.
#[derive(Debug, thiserror::Error)]
pub enum AgreementError {
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Keys(#[from] KeyError),
}

/// What every server tries to open.
pub fn mark(keys: &ModuleKeys) -> Result<String, KeyError> {
    let sealed = keys.seal(TEXT)?;
    Ok(format!("{} {}", sealed.key, STANDARD.encode(&sealed.bytes)))
}

/// Makes sure that this server opens what the others seal. Where nothing is sealed and nobody else is there, it says what
/// others have to open.
pub async fn agree(
    store: &Store,
    keys: &ModuleKeys,
    is_something_sealed: bool,
    now: Micros,
) -> Result<(), AgreementError> {
    let agreed = store.mark_agree(MARK, &mark(keys)?, now).await?;
    if is_ours(keys, &agreed) {
        return Ok(());
    }
    let servers = store.read().await?.servers().await?;
    let seen_since = now.plus_seconds(-SEEN_SECONDS);
    if is_something_sealed || servers.iter().any(|server| server.seen_at > seen_since) {
        return Err(KeyError::Foreign { path: keys.shown() }.into());
    }
    let mut writing = store.change(&Actor::server(), now).await?;
    writing.mark_put(MARK, &mark(keys)?).await?;
    let (action, target) = ("module.change_key", "modules".to_owned());
    writing.commit(Change { action, target, detail: serde_json::json!({}) }).await?;
    Ok(())
}

fn is_ours(keys: &ModuleKeys, mark: &str) -> bool {
    let Some((key, bytes)) = mark.split_once(' ') else { return false };
    let Ok(bytes) = STANDARD.decode(bytes) else { return false };
    keys.unseal(&Sealed { key: key.to_owned(), bytes }).is_ok_and(|text| text == TEXT)
}

#[cfg(test)]
mod tests {
    use stoker_model::Member;
    use stoker_store::Database;
    use stoker_testkit::Folder;

    use super::*;

    const NOW: Micros = Micros(1_000_000_000);

    #[tokio::test]
    async fn a_server_with_other_keys_is_refused_while_others_are_there() {
        let folder = Folder::new();
        let store = Store::open(&Database::Sqlite { path: folder.file("db") }).await.unwrap();
        let ours = ModuleKeys::open(&folder.file("ours"), false).unwrap();
        let theirs = ModuleKeys::open(&folder.file("theirs"), false).unwrap();
        agree(&store, &ours, false, NOW).await.unwrap();
        agree(&store, &ours, true, NOW).await.unwrap();
        let refused = agree(&store, &theirs, true, NOW).await.unwrap_err();
        assert!(refused.to_string().contains("put the same file"), "{refused}");
        let member = Member {
            id: "a".to_owned(),
            name: String::new(),
            address: String::new(),
            version: String::new(),
            hears_bus: false,
            started_at: NOW,
            seen_at: NOW,
        };
        store.server_beat(&member).await.unwrap();
        assert!(agree(&store, &theirs, false, NOW).await.is_err());
        // It is gone, and nothing is lost with its keys.
        agree(&store, &theirs, false, NOW.plus_seconds(SEEN_SECONDS)).await.unwrap();
        assert!(agree(&store, &ours, true, NOW).await.is_err());
        store.close().await;
    }
}
