//! Creation, update and deletion of webhooks.

use serde_json::json;
use stoker_model::{Actor, AuditChange, EncryptedContents, Webhook, WebhookBody, WebhookId};
use stoker_store::{List, Session, StoreError, WriteTransaction};

use super::WebhookOutbox;
use crate::error::{ServiceError, ServiceResult};
use crate::precondition::Precondition;
use crate::random;

/// Maximum number of webhooks. Bounds the work per event: each event is matched against every webhook.
const WEBHOOKS_MAX: usize = 100;
const SECRET_CHARS: usize = 40;

impl WebhookOutbox {
    /// Creates a webhook and returns its secret, which is generated unless `secret` is given.
    pub async fn create(
        &self,
        actor: &Actor,
        body: &WebhookBody,
        secret: Option<String>,
    ) -> ServiceResult<(Webhook, String)> {
        let secret = match secret {
            Some(secret) => secret,
            None => random::password(SECRET_CHARS)?,
        };
        let sealed = self.seal(&secret)?;
        let mut writing = self.change(actor).await?;
        if writing.webhook_list(&List::default()).await?.items.len() >= WEBHOOKS_MAX {
            return Err(ServiceError::conflict(format!(
                "the maximum of {WEBHOOKS_MAX} webhooks is reached; delete one first"
            )));
        }
        let created = writing.webhook_create(body, &sealed).await;
        let webhook = created.map_err(|error| describe_error(error, &body.name))?;
        writing.commit(describe("webhook.create", &webhook)).await?;
        Ok((webhook, secret))
    }

    /// Applies a change and, if given, replaces the secret.
    pub async fn update(
        &self,
        actor: &Actor,
        id: WebhookId,
        precondition: &Precondition,
        secret: Option<&str>,
        apply: impl FnOnce(&mut WebhookBody),
    ) -> ServiceResult<Webhook> {
        let sealed = secret.map(|secret| self.seal(secret)).transpose()?;
        let mut writing = self.change(actor).await?;
        let mut webhook = find(&mut writing, id).await?;
        precondition.check(webhook.generation)?;
        apply(&mut webhook.body);
        let updated = writing.webhook_update(&webhook, sealed.as_ref()).await;
        let webhook = updated.map_err(|error| describe_error(error, &webhook.body.name))?;
        writing.commit(describe("webhook.update", &webhook)).await?;
        // The webhook may have been enabled: wake the sender.
        self.notify();
        Ok(webhook)
    }

    /// Deletes a webhook; pending deliveries are discarded.
    pub async fn delete(
        &self,
        actor: &Actor,
        id: WebhookId,
        precondition: &Precondition,
    ) -> ServiceResult<()> {
        let mut writing = self.change(actor).await?;
        let webhook = find(&mut writing, id).await?;
        precondition.check(webhook.generation)?;
        writing.webhook_delete(webhook.id).await?;
        Ok(writing.commit(describe("webhook.delete", &webhook)).await?)
    }

    async fn change(&self, actor: &Actor) -> Result<WriteTransaction, StoreError> {
        self.store.begin_write(actor, self.clock.now()).await
    }

    fn seal(&self, secret: &str) -> ServiceResult<EncryptedContents> {
        let message = "cannot encrypt the secret; see the server log";
        self.keys.seal(secret).map_err(|error| ServiceError::internal_from(message, error))
    }
}

async fn find(session: &mut Session, id: WebhookId) -> ServiceResult<Webhook> {
    session.webhook_get(id).await?.ok_or_else(|| ServiceError::not_found("Webhook"))
}

fn describe_error(error: StoreError, name: &str) -> ServiceError {
    match error {
        StoreError::AlreadyExists { .. } => {
            ServiceError::conflict(format!("webhook `{name}` already exists"))
        }
        StoreError::NotFound { what: "cluster" } => ServiceError::invalid("the cluster does not exist"),
        error => error.into(),
    }
}

fn describe(action: &'static str, webhook: &Webhook) -> AuditChange {
    let detail = json!({"name": webhook.body.name, "url": webhook.body.url});
    AuditChange { action, target: format!("webhook {}", webhook.id), detail }
}
