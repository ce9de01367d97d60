//! Webhooks and their encrypted secrets.

mod deliveries;
mod notifications;

use stoker_model::{Cluster, ClusterId, EncryptedContents, Topic, Webhook, WebhookBody, WebhookId};

pub use self::notifications::NotificationFilter;
use crate::sql::{Args, Columns, Record, Table};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TAKEN: StoreError = StoreError::AlreadyExists { what: "webhook name" };

impl Record for Webhook {
    const TABLE: Table = Table {
        name: "webhooks",
        noun: "webhook",
        columns: &["name", "url", "topics", "cluster_id", "enabled", "created_at"],
        orders: &["id", "name", "url", "cluster_id", "enabled", "created_at"],
    };

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: WebhookId(columns.int()?),
            generation: columns.int()?,
            body: WebhookBody {
                name: columns.text()?,
                url: columns.text()?,
                topics: read_topics(columns)?,
                cluster_id: columns.opt_int()?.map(ClusterId),
                enabled: columns.bool()?,
            },
            created_at: columns.time()?,
        })
    }
}

fn read_topics(columns: &mut Columns<'_>) -> Result<Vec<Topic>, StoreError> {
    let names = columns.strings()?;
    let topics = names.iter().map(|name| Topic::parse(name)).collect::<Option<_>>();
    topics.ok_or_else(|| columns.corrupt_last(format!("{names:?} contains an unknown topic")))
}

fn args(webhook: &Webhook) -> Args {
    let topics: Vec<&str> = webhook.body.topics.iter().map(|topic| topic.as_str()).collect();
    Args::new()
        .key(&webhook.body.name)
        .text(&webhook.body.url)
        .strings(&topics)
        .opt_int(webhook.body.cluster_id.map(|id| id.0))
        .bool(webhook.body.enabled)
        .int(webhook.created_at.0)
}

impl Session {
    pub async fn webhook_list(&mut self, list: &List) -> Result<Page<Webhook>, StoreError> {
        self.list(self.select(), list).await
    }

    pub async fn webhook_get(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        self.get(id.0).await
    }

    /// Encrypted secret of an existing webhook.
    pub async fn webhook_secret(&mut self, id: WebhookId) -> Result<EncryptedContents, StoreError> {
        let sql = "SELECT key_name, secret FROM webhook_secrets WHERE webhook_id = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        let row = row.ok_or(StoreError::NotFound { what: "webhook" })?;
        let mut columns = row.columns("webhook_secrets");
        Ok(EncryptedContents { key: columns.text()?, bytes: columns.bytes()? })
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
        webhook.id = WebhookId(self.insert::<Webhook>("(name)", args(&webhook)).await?.ok_or(TAKEN)?);
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
            return Err(TAKEN);
        }
        let generation = self.replace::<Webhook>(webhook.id.0, webhook.generation, args(webhook)).await?;
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
        let sql = "INSERT INTO webhook_secrets (webhook_id, key_name, secret) VALUES ($1, $2, $3) \
                   ON CONFLICT (webhook_id) DO UPDATE SET key_name = excluded.key_name, secret = excluded.secret";
        let args = Args::new().int(id.0).text(&secret.key).bytes(&secret.bytes);
        self.connection.execute(sql.to_owned(), args).await?;
        Ok(())
    }
}
