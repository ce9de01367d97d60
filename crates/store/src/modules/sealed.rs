//! Enumerates and rewrites all encrypted values, for key rotation.

use stoker_model::{ModuleId, NodeId, RunId, Sealed, WebhookId};

use crate::sql::{Args, Values};
use crate::{Session, StoreError, Writing};

/// Location of an encrypted value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedPlace {
    Module(ModuleId),
    /// A module of a module run, by run and position.
    Underway(RunId, i64),
    /// A module applied to a node.
    Applied(NodeId, String),
    /// The signing secret of a webhook.
    Webhook(WebhookId),
}

impl Session {
    /// Values encrypted with a key other than `key`.
    pub async fn sealed_otherwise(&mut self, key: &str) -> Result<Vec<(SealedPlace, Sealed)>, StoreError> {
        let args = || Args::new().text(key);
        let sql = "SELECT module_id, key_name, contents FROM module_contents WHERE key_name <> $1 ORDER BY module_id";
        let mut values: Vec<(SealedPlace, Sealed)> = Vec::new();
        for row in self.connection.fetch_all(sql.to_owned(), args()).await? {
            values.push((SealedPlace::Module(row.get("module_contents", "module_id")?), row.read()?));
        }
        let sql = "SELECT run_id, position, key_name, contents FROM module_run_items WHERE key_name <> $1 \
                   ORDER BY run_id, position";
        for row in self.connection.fetch_all(sql.to_owned(), args()).await? {
            let table = "module_run_items";
            let location = SealedPlace::Underway(row.get(table, "run_id")?, row.get(table, "position")?);
            values.push((location, row.read()?));
        }
        let sql = "SELECT node_id, uuid, key_name, contents FROM node_modules WHERE key_name <> $1 \
                   ORDER BY node_id, uuid";
        for row in self.connection.fetch_all(sql.to_owned(), args()).await? {
            let table = "node_modules";
            let location = SealedPlace::Applied(row.get(table, "node_id")?, row.get(table, "uuid")?);
            values.push((location, row.read()?));
        }
        let sql = "SELECT webhook_id, key_name, secret AS contents FROM webhook_secrets WHERE key_name <> $1 \
                   ORDER BY webhook_id";
        for row in self.connection.fetch_all(sql.to_owned(), args()).await? {
            values.push((SealedPlace::Webhook(row.get("webhook_secrets", "webhook_id")?), row.read()?));
        }
        // A module removed from its node has empty contents there.
        values.retain(|(_, sealed)| !sealed.bytes.is_empty());
        Ok(values)
    }
}

impl Writing {
    /// Replaces an encrypted value by the same value encrypted with another key.
    pub async fn sealed_put(&mut self, location: &SealedPlace, sealed: &Sealed) -> Result<(), StoreError> {
        let (table, contents, condition, args) = match location {
            SealedPlace::Module(id) => {
                ("module_contents", "contents", "module_id = ?", Args::new().int(id.0))
            }
            SealedPlace::Underway(run, position) => (
                "module_run_items",
                "contents",
                "run_id = ? AND position = ?",
                Args::new().int(run.0).int(*position),
            ),
            SealedPlace::Applied(node, uuid) => {
                ("node_modules", "contents", "node_id = ? AND uuid = ?", Args::new().int(node.0).key(uuid))
            }
            SealedPlace::Webhook(id) => {
                ("webhook_secrets", "secret", "webhook_id = ?", Args::new().int(id.0))
            }
        };
        let values = Values::new().set("key_name", &sealed.key).set(contents, &sealed.bytes);
        let (sql, args) = values.update(table, "", condition, args);
        match self.connection.execute(sql, args).await? {
            1 => Ok(()),
            _ => Err(StoreError::Missing { what: "module" }),
        }
    }
}
