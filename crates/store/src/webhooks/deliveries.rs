//! Webhook deliveries: an outbox that any server may drain.

use stoker_model::{
    Actor, DeliveryAttempt, DeliveryId, DeliveryStatus, Json, Micros, Topic, WebhookDelivery, WebhookId,
};

use crate::sql::{Args, Record as _, Row, Values, read_all, record};
use crate::{List, Page, Session, Store, StoreError, WriteTransaction};

const TABLE: &str = "webhook_deliveries";

record! {
    WebhookDelivery in "webhook_deliveries", "delivery" {
        id [auto sort],
        webhook_id,
        topic [sort],
        body,
        status [sort],
        attempts [sort],
        next_attempt_at as "due_at" [sort],
        created_at [sort],
        last_attempt_at as "tried_at" [sort],
        response_status as "answer" [sort],
        last_error as "problem",
    }
}

// The columns that an attempt changes.
record! {
    DeliveryAttempt in "webhook_deliveries", "delivery" { status, due_at, tried_at, answer, problem }
}

impl Store {
    /// Claims the oldest due delivery of each webhook that is not in `busy`. A claim lasts until `until`; if
    /// the outcome is not recorded by then, the delivery is due again, because the claiming server has
    /// probably died.
    pub async fn deliveries_claim(
        &self,
        busy: &[WebhookId],
        n_max: usize,
        now: Micros,
        until: Micros,
    ) -> Result<Vec<WebhookDelivery>, StoreError> {
        // Check with a read first: it needs no writer lock, and usually no delivery is due.
        if !self.read().await?.deliveries_are_due(now).await? {
            return Ok(Vec::new());
        }
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        let busy: Vec<String> = busy.iter().map(ToString::to_string).collect();
        let free = if busy.is_empty() {
            String::new()
        } else {
            format!(" AND d.webhook_id NOT IN ({})", busy.join(", "))
        };
        let sql = format!(
            "UPDATE {TABLE} SET attempts = attempts + 1, due_at = {until} WHERE status = 'pending' AND due_at <= {now} \
             AND id IN (SELECT min(d.id) FROM {TABLE} d JOIN webhooks w ON w.id = d.webhook_id \
             WHERE d.status = 'pending' AND d.due_at <= {now} AND w.enabled{free} \
             GROUP BY d.webhook_id ORDER BY min(d.id) LIMIT {n_max}) RETURNING {columns}",
            columns = WebhookDelivery::table().select_list(),
            until = until.0,
            now = now.0,
        );
        let rows = writing.connection.fetch_all(sql, Args::new()).await?;
        let mut claimed: Vec<WebhookDelivery> = read_all(&rows)?;
        claimed.sort_by_key(|delivery| delivery.id);
        writing.commit_unaudited().await?;
        Ok(claimed)
    }

    /// Records the outcome of an attempt. Returns `false` if a later attempt has started or the delivery is
    /// no longer pending.
    pub async fn delivery_record_attempt(
        &self,
        id: DeliveryId,
        attempt: i64,
        tried: &DeliveryAttempt,
    ) -> Result<bool, StoreError> {
        let mut writing = self.begin_write(&Actor::server(), tried.tried_at).await?;
        let condition = "id = ? AND attempts = ? AND status = 'pending'";
        let (sql, args) = Values::of(tried).update(TABLE, "", condition, Args::new().int(id.0).int(attempt));
        let n_changed = writing.connection.execute(sql, args).await?;
        writing.commit_unaudited().await?;
        Ok(n_changed == 1)
    }
}

impl Session {
    pub async fn delivery_list(
        &mut self,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        list: &List,
    ) -> Result<Page<WebhookDelivery>, StoreError> {
        let mut select = self.select().and_int("webhook_id = ?", Some(webhook.0));
        if let Some(status) = status {
            select = select.and("status = ?", |args| args.text(status.as_str()));
        }
        self.list_by("id DESC", select, list).await
    }

    pub async fn delivery_get(&mut self, id: DeliveryId) -> Result<Option<WebhookDelivery>, StoreError> {
        self.get(id.0).await
    }

    /// Returns the number of pending deliveries.
    pub async fn deliveries_pending(&mut self) -> Result<i64, StoreError> {
        self.number(format!("SELECT count(*) AS n FROM {TABLE} WHERE status = 'pending'"), Args::new()).await
    }

    async fn deliveries_are_due(&mut self, now: Micros) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM {TABLE} WHERE status = 'pending' AND due_at <= $1 LIMIT 1");
        self.exists(sql, Args::new().int(now.0)).await
    }
}

impl WriteTransaction {
    /// Creates a delivery that is due immediately.
    pub async fn delivery_create(
        &mut self,
        webhook: WebhookId,
        topic: Topic,
        body: &Json,
    ) -> Result<WebhookDelivery, StoreError> {
        let now = self.now();
        let values = Values::new()
            .set("webhook_id", &webhook)
            .set("topic", &topic)
            .set("body", body)
            .set("status", &DeliveryStatus::Pending)
            .set("attempts", &0_i64)
            .set("due_at", &now)
            .set("created_at", &now);
        let returning = format!("RETURNING {}", WebhookDelivery::table().select_list());
        let row = self.connection.insert_returning(TABLE, values, &returning).await?;
        row.ok_or(StoreError::NotFound { what: "webhook" })?.read()
    }

    /// Resets a delivery to pending with no attempts, regardless of its status. Returns `None` if it does not
    /// exist.
    pub async fn delivery_redeliver(
        &mut self,
        id: DeliveryId,
    ) -> Result<Option<WebhookDelivery>, StoreError> {
        let sql = format!(
            "UPDATE {TABLE} SET status = 'pending', attempts = 0, due_at = $1, problem = NULL \
             WHERE id = $2 RETURNING {}",
            WebhookDelivery::table().select_list()
        );
        let args = Args::new().int(self.now().0).int(id.0);
        let row = self.connection.fetch_optional(sql, args).await?;
        row.as_ref().map(Row::read).transpose()
    }

    /// Deletes notifications and finished deliveries older than `before`. Returns their number.
    pub async fn notifications_expire(&mut self, before: Micros) -> Result<u64, StoreError> {
        let messages = format!("DELETE FROM {TABLE} WHERE status <> 'pending' AND created_at < $1");
        let n_messages = self.connection.execute(messages, Args::new().int(before.0)).await?;
        let notifications = "DELETE FROM notifications WHERE at < $1".to_owned();
        let n_notifications = self.connection.execute(notifications, Args::new().int(before.0)).await?;
        Ok(n_messages + n_notifications)
    }
}
