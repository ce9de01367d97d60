//! Rotation of the module key.

use std::path::Path;

use serde_json::json;
use stoker_model::{Actor, AuditChange};
use stoker_settings::DatabaseLocation;
use stoker_store::{OpenError, Store, StoreError};

use crate::clock::Clock;

use super::key_agreement::{MARK, mark};
use super::keys::{Key, KeyError, ModuleKeys};
use crate::database::{self, DatabaseFolderError};

/// Result of a rotation.
#[derive(Debug, PartialEq, Eq)]
pub struct Rotated {
    /// Name of the new key.
    pub key: String,
    /// Number of re-encrypted contents.
    pub n_sealed: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum RotateError {
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error("cannot start")]
    Runtime(#[source] std::io::Error),
    #[error("cannot open the database")]
    Open(#[from] OpenError),
    #[error("cannot open the database")]
    Folder(#[source] DatabaseFolderError),
    #[error("the store failed")]
    Store(#[from] StoreError),
}

/// Creates a new key, re-encrypts all values with it, and deletes all keys except the new and the previous
/// one. Servers may be running: they read both keys, and the next rotation re-encrypts values that they
/// encrypt with the previous key in the meantime.
pub fn rotate_keys(database: &DatabaseLocation, key_file: &Path) -> Result<Rotated, RotateError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(RotateError::Runtime)?;
    runtime.block_on(async {
        let store = Store::open(&database::of_location(database).map_err(RotateError::Folder)?).await?;
        let rotated = rotate(&store, key_file).await;
        store.close().await;
        rotated
    })
}

async fn rotate(store: &Store, key_file: &Path) -> Result<Rotated, RotateError> {
    let keys = ModuleKeys::open(key_file, true)?;
    let mut key_list = keys.read()?;
    let (new, last) = (Key::random()?, key_list[0].clone());
    key_list.insert(0, new.clone());
    // The key is written first, so that no content is ever encrypted with a key that is not stored.
    keys.replace(&key_list)?;
    let mut writing = store.begin_write(&Actor::server(), Clock.now()).await?;
    let sealed = writing.encrypted_with_other_key(&new.name).await?;
    for (place, sealed) in &sealed {
        let text = keys.find(&key_list, &sealed.key)?.unseal(sealed)?;
        writing.encrypted_put(place, &new.seal(&text)?).await?;
    }
    writing.shared_value_put(MARK, &mark(&keys)?).await?;
    let detail = json!({"key": new.name, "n_sealed": sealed.len()});
    writing.commit(AuditChange { action: "module.rotate_key", target: "modules".to_owned(), detail }).await?;
    keys.replace(&[new.clone(), last])?;
    Ok(Rotated { key: new.name, n_sealed: sealed.len() })
}

#[cfg(test)]
mod tests {
    use stoker_store::Database;
    use stoker_testkit::TempFolder;

    use super::*;

    #[test]
    fn rotation_reencrypts_everything() {
        let folder = TempFolder::new();
        let location = DatabaseLocation::Folder(folder.path().to_owned());
        let key_file = folder.file("modules.key");
        assert!(rotate_keys(&location, &key_file).is_err(), "there is no key");
        let keys = ModuleKeys::open(&key_file, false).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let body = stoker_model::ModuleBody {
            name: "m".to_owned(),
            module_type: "ping".to_owned(),
            description: None,
            tenant_id: None,
            datastore: None,
            datastore_version: None,
            auto_apply: false,
            visible: true,
            live_update: false,
            priority_apply: false,
            apply_order: 5,
            is_admin: false,
            md5: String::new(),
        };
        let database = Database::Sqlite { path: folder.file(DatabaseLocation::FILE) };
        let id = runtime.block_on(async {
            let store = Store::open(&database).await.unwrap();
            let mut writing = store.begin_write(&Actor::server(), Clock.now()).await.unwrap();
            let made = writing.module_create("u", &body, &keys.seal("secret").unwrap()).await.unwrap();
            let change = AuditChange { action: "test", target: String::new(), detail: json!({}) };
            writing.commit(change).await.unwrap();
            store.close().await;
            made.id
        });
        let first = rotate_keys(&location, &key_file).unwrap();
        assert_eq!(first.n_sealed, 1);
        let second = rotate_keys(&location, &key_file).unwrap();
        assert_eq!(second.n_sealed, 1);
        let known = keys.read().unwrap();
        assert_eq!(known.iter().map(|key| &key.name).collect::<Vec<_>>(), [&second.key, &first.key]);
        runtime.block_on(async {
            let store = Store::open(&database).await.unwrap();
            let sealed = store.read().await.unwrap().module_contents(id).await.unwrap();
            assert_eq!(sealed.key, second.key);
            assert_eq!(keys.unseal(&sealed).unwrap(), "secret");
            store.close().await;
        });
    }
}
