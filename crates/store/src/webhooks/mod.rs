//! Webhooks and their encrypted secrets.

mod deliveries;
mod notifications;

use stoker_model::{Cluster, EncryptedContents, Webhook, WebhookBody, WebhookId};

pub use self::notifications::NotificationFilter;
use crate::sql::{Args, Values, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const DUPLICATE: StoreError = StoreError::AlreadyExists { what: "webhook name" };

record! {
    WebhookBody { name [key sort], url [sort], topics, cluster_id [sort], enabled [sort] }
}

record! {
    Webhook in "webhooks", "webhook" { id [auto sort], generation [auto], body: WebhookBody, created_at [sort] }
}

impl Session {
    pub async fn webhook_list(&mut self, list: &List) -> Result<Page<Webhook>, StoreError> {
        self.list(self.select(), list).await
    }

    pub async fn webhook_get(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        self.get(id.0).await
    }

    /// Returns the encrypted secret of an existing webhook.
    pub async fn webhook_secret(&mut self, id: WebhookId) -> Result<EncryptedContents, StoreError> {
        let sql = "SELECT key_name, secret FROM webhook_secrets WHERE webhook_id = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        let row = row.ok_or(StoreError::NotFound { what: "webhook" })?;
        let table = "webhook_secrets";
        Ok(EncryptedContents { key: row.get(table, "key_name")?, bytes: row.get(table, "secret")? })
    }
}

impl WriteTransaction {
    pub async fn webhook_create(
        &mut self,
        body: &WebhookBody,
        secret: &EncryptedContents,
    ) -> Result<Webhook, StoreError> {
        self.require_cluster(body).await?;
        let created_at = self.now();
        let mut webhook = Webhook { id: WebhookId(0), generation: 1, body: body.clone(), created_at };
        webhook.id =
            WebhookId(self.insert::<Webhook>("(name)", Values::of(&webhook)).await?.ok_or(DUPLICATE)?);
        self.webhook_secret_put(webhook.id, secret).await?;
        Ok(webhook)
    }

    /// Overwrites a webhook and, if given, its secret.
    pub async fn webhook_update(
        &mut self,
        webhook: &Webhook,
        secret: Option<&EncryptedContents>,
    ) -> Result<Webhook, StoreError> {
        self.require_cluster(&webhook.body).await?;
        let others = "SELECT 1 FROM webhooks WHERE name = $1 AND id <> $2".to_owned();
        if self.exists(others, Args::new().key(&webhook.body.name).int(webhook.id.0)).await? {
            return Err(DUPLICATE);
        }
        let generation = self.replace(webhook.id.0, webhook.generation, webhook).await?;
        if let Some(secret) = secret {
            self.webhook_secret_put(webhook.id, secret).await?;
        }
        Ok(Webhook { generation, ..webhook.clone() })
    }

    /// Deletes a webhook with its deliveries. Returns whether the webhook existed.
    pub async fn webhook_delete(&mut self, id: WebhookId) -> Result<bool, StoreError> {
        self.delete::<Webhook>(id.0).await
    }

    async fn require_cluster(&mut self, body: &WebhookBody) -> Result<(), StoreError> {
        match body.cluster_id {
            Some(id) => self.require::<Cluster>(id.0).await,
            None => Ok(()),
        }
    }

    async fn webhook_secret_put(
        &mut self,
        id: WebhookId,
        secret: &EncryptedContents,
    ) -> Result<(), StoreError> {
        let values =
            Values::new().set("webhook_id", &id).set("key_name", &secret.key).set("secret", &secret.bytes);
        let replace =
            "ON CONFLICT (webhook_id) DO UPDATE SET key_name = excluded.key_name, secret = excluded.secret";
        self.connection.insert("webhook_secrets", values, replace).await?;
        Ok(())
    }
}
