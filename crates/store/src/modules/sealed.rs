//! Enumerates and rewrites all encrypted values, for key rotation.

use stoker_model::{EncryptedContents, ModuleId, NodeId, RunId, WebhookId};

use super::read_sealed;
use crate::sql::Args;
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
    /// Values encrypted with a key other than `key`.
    pub async fn encrypted_with_other_key(
        &mut self,
        key: &str,
    ) -> Result<Vec<(EncryptedLocation, EncryptedContents)>, StoreError> {
        let mut values = Vec::new();
        let sql = "SELECT module_id, key_name, contents FROM module_contents WHERE key_name <> $1 ORDER BY module_id";
        for row in self.connection.fetch_all(sql.to_owned(), Args::new().text(key)).await? {
            let mut columns = row.columns("module_contents");
            let location = EncryptedLocation::Module(ModuleId(columns.int()?));
            values.push((location, read_sealed(&mut columns)?));
        }
        let sql = "SELECT run_id, position, key_name, contents FROM module_run_items WHERE key_name <> $1 \
                   ORDER BY run_id, position";
        for row in self.connection.fetch_all(sql.to_owned(), Args::new().text(key)).await? {
            let mut columns = row.columns("module_run_items");
            let location = EncryptedLocation::ModuleRunItem(RunId(columns.int()?), columns.int()?);
            values.push((location, read_sealed(&mut columns)?));
        }
        let sql = "SELECT node_id, uuid, key_name, contents FROM node_modules WHERE key_name <> $1 \
                   ORDER BY node_id, uuid";
        for row in self.connection.fetch_all(sql.to_owned(), Args::new().text(key)).await? {
            let mut columns = row.columns("node_modules");
            let location = EncryptedLocation::NodeModule(NodeId(columns.int()?), columns.text()?);
            values.push((location, read_sealed(&mut columns)?));
        }
        let sql = "SELECT webhook_id, key_name, secret FROM webhook_secrets WHERE key_name <> $1 ORDER BY webhook_id";
        for row in self.connection.fetch_all(sql.to_owned(), Args::new().text(key)).await? {
            let mut columns = row.columns("webhook_secrets");
            let location = EncryptedLocation::Webhook(WebhookId(columns.int()?));
            values.push((location, read_sealed(&mut columns)?));
        }
        // A module removed from its node has empty contents there.
        values.retain(|(_, sealed)| !sealed.bytes.is_empty());
        Ok(values)
    }
}

impl WriteTransaction {
    /// Replaces an encrypted value by the same value encrypted with another key.
    pub async fn encrypted_put(
        &mut self,
        location: &EncryptedLocation,
        sealed: &EncryptedContents,
    ) -> Result<(), StoreError> {
        let args = Args::new().text(&sealed.key).bytes(&sealed.bytes);
        let (sql, args) = match location {
            EncryptedLocation::Module(id) => (
                "UPDATE module_contents SET key_name = $1, contents = $2 WHERE module_id = $3",
                args.int(id.0),
            ),
            EncryptedLocation::ModuleRunItem(run, position) => (
                "UPDATE module_run_items SET key_name = $1, contents = $2 WHERE run_id = $3 AND position = $4",
                args.int(run.0).int(*position),
            ),
            EncryptedLocation::NodeModule(node, uuid) => (
                "UPDATE node_modules SET key_name = $1, contents = $2 WHERE node_id = $3 AND uuid = $4",
                args.int(node.0).key(uuid),
            ),
            EncryptedLocation::Webhook(id) => (
                "UPDATE webhook_secrets SET key_name = $1, secret = $2 WHERE webhook_id = $3",
                args.int(id.0),
            ),
        };
        match self.connection.execute(sql.to_owned(), args).await? {
            1 => Ok(()),
            _ => Err(StoreError::NotFound { what: "module" }),
        }
    }
}
