//! Enumerates and rewrites all encrypted values, for key rotation.

use stoker_model::{EncryptedContents, ModuleId, NodeId, RunId, WebhookId};

use crate::sql::{Args, Values};
use crate::{Session, StoreError, WriteTransaction};

/// Location of an encrypted value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncryptedLocation {
    Module(ModuleId),
    /// A module of a module run, by run and position.
    ModuleRunItem(RunId, i64),
    /// A module applied to a node.
    NodeModule(NodeId, String),
    /// The signing secret of a webhook.
    Webhook(WebhookId),
}

impl Session {
    /// Returns the values encrypted with a key other than `key`.
    pub async fn encrypted_with_other_key(
        &mut self,
        key: &str,
    ) -> Result<Vec<(EncryptedLocation, EncryptedContents)>, StoreError> {
        let args = || Args::new().text(key);
        let sql = "SELECT module_id, key_name, contents FROM module_contents WHERE key_name <> $1 ORDER BY module_id";
        let mut values: Vec<(EncryptedLocation, EncryptedContents)> = Vec::new();
        for row in self.connection.fetch_all(sql.to_owned(), args()).await? {
            values.push((EncryptedLocation::Module(row.get("module_contents", "module_id")?), row.read()?));
        }
        let sql = "SELECT run_id, position, key_name, contents FROM module_run_items WHERE key_name <> $1 \
                   ORDER BY run_id, position";
        for row in self.connection.fetch_all(sql.to_owned(), args()).await? {
            let table = "module_run_items";
            let location =
                EncryptedLocation::ModuleRunItem(row.get(table, "run_id")?, row.get(table, "position")?);
            values.push((location, row.read()?));
        }
        let sql = "SELECT node_id, uuid, key_name, contents FROM node_modules WHERE key_name <> $1 \
                   ORDER BY node_id, uuid";
        for row in self.connection.fetch_all(sql.to_owned(), args()).await? {
            let table = "node_modules";
            let location = EncryptedLocation::NodeModule(row.get(table, "node_id")?, row.get(table, "uuid")?);
            values.push((location, row.read()?));
        }
        let sql = "SELECT webhook_id, key_name, secret AS contents FROM webhook_secrets WHERE key_name <> $1 \
                   ORDER BY webhook_id";
        for row in self.connection.fetch_all(sql.to_owned(), args()).await? {
            values.push((EncryptedLocation::Webhook(row.get("webhook_secrets", "webhook_id")?), row.read()?));
        }
        // A module removed from its node has empty contents there.
        values.retain(|(_, sealed)| !sealed.bytes.is_empty());
        Ok(values)
    }
}

impl WriteTransaction {
    /// Replaces an encrypted value with the same value encrypted with another key.
    pub async fn encrypted_put(
        &mut self,
        location: &EncryptedLocation,
        sealed: &EncryptedContents,
    ) -> Result<(), StoreError> {
        let (table, contents, condition, args) = match location {
            EncryptedLocation::Module(id) => {
                ("module_contents", "contents", "module_id = ?", Args::new().int(id.0))
            }
            EncryptedLocation::ModuleRunItem(run, position) => (
                "module_run_items",
                "contents",
                "run_id = ? AND position = ?",
                Args::new().int(run.0).int(*position),
            ),
            EncryptedLocation::NodeModule(node, uuid) => {
                ("node_modules", "contents", "node_id = ? AND uuid = ?", Args::new().int(node.0).key(uuid))
            }
            EncryptedLocation::Webhook(id) => {
                ("webhook_secrets", "secret", "webhook_id = ?", Args::new().int(id.0))
            }
        };
        let values = Values::new().set("key_name", &sealed.key).set(contents, &sealed.bytes);
        let (sql, args) = values.update(table, "", condition, args);
        match self.connection.execute(sql, args).await? {
            1 => Ok(()),
            _ => Err(StoreError::NotFound { what: "module" }),
        }
    }
}
