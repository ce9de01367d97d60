//! Webhook deliveries: an outbox that any server may drain.

use stoker_model::{
    Actor, Delivery, DeliveryAttempt, DeliveryId, DeliveryStatus, Json, Micros, Topic, WebhookId,
};

use crate::sql::{Args, Row};
use crate::{List, Page, Session, Store, StoreError, WriteTransaction};

const TABLE: &str = "webhook_deliveries";
const COLUMNS: &str =
    "id, webhook_id, topic, body, status, attempts, due_at, created_at, tried_at, answer, problem";
const ORDERS: &[&str] = &["id", "topic", "status", "attempts", "due_at", "created_at", "tried_at", "answer"];

fn read(row: &Row) -> Result<Delivery, StoreError> {
    let mut columns = row.columns(TABLE);
    Ok(Delivery {
        id: DeliveryId(columns.int()?),
        webhook_id: WebhookId(columns.int()?),
        topic: columns.word(Topic::parse)?,
        body: columns.json()?,
        status: columns.word(DeliveryStatus::parse)?,
        attempts: columns.int()?,
        next_attempt_at: columns.time()?,
        created_at: columns.time()?,
        last_attempt_at: columns.opt_time()?,
        response_status: columns.opt_int()?,
        last_error: columns.opt_text()?,
    })
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
    ) -> Result<Vec<Delivery>, StoreError> {
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
             GROUP BY d.webhook_id ORDER BY min(d.id) LIMIT {n_max}) RETURNING {COLUMNS}",
            until = until.0,
            now = now.0,
        );
        let rows = writing.connection.fetch_all(sql, Args::new()).await?;
        let mut claimed = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        claimed.sort_by_key(|delivery| delivery.id);
        writing.commit_unaudited().await?;
        Ok(claimed)
    }

    /// Records the outcome of an attempt. Returns `false` if a later attempt has started or the delivery is
    /// not pending any more.
    pub async fn delivery_record_attempt(
        &self,
        id: DeliveryId,
        attempt: i64,
        tried: &DeliveryAttempt,
    ) -> Result<bool, StoreError> {
        let mut writing = self.begin_write(&Actor::server(), tried.tried_at).await?;
        let sql = format!(
            "UPDATE {TABLE} SET status = $1, due_at = $2, tried_at = $3, answer = $4, problem = $5 \
             WHERE id = $6 AND attempts = $7 AND status = 'pending'"
        );
        let args = Args::new()
            .text(tried.status.as_str())
            .int(tried.due_at.0)
            .int(tried.tried_at.0)
            .opt_int(tried.answer)
            .opt_text(tried.problem.as_deref())
            .int(id.0)
            .int(attempt);
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
    ) -> Result<Page<Delivery>, StoreError> {
        let order = list.order_sql(ORDERS, "id DESC")?;
        let mut select = self.select().and_int("webhook_id = ?", Some(webhook.0));
        if let Some(status) = status {
            select = select.and("status = ?", |args| args.text(status.as_str()));
        }
        let sql = format!("SELECT {COLUMNS} FROM {TABLE}");
        let (rows, total) = self.page(&sql, TABLE, select, &order, list).await?;
        Ok(Page { items: rows.iter().map(read).collect::<Result<_, _>>()?, total })
    }

    pub async fn delivery_get(&mut self, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM {TABLE} WHERE id = $1");
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.as_ref().map(read).transpose()
    }

    /// Number of pending deliveries.
    pub async fn deliveries_pending(&mut self) -> Result<i64, StoreError> {
        let sql = format!("SELECT count(*) FROM {TABLE} WHERE status = 'pending'");
        let row = self.connection.fetch_optional(sql, Args::new()).await?;
        row.map_or(Ok(0), |row| row.columns(TABLE).int())
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
    ) -> Result<Delivery, StoreError> {
        let sql = format!(
            "INSERT INTO {TABLE} (webhook_id, topic, body, status, attempts, due_at, created_at) \
             VALUES ($1, $2, $3, 'pending', 0, $4, $4) RETURNING {COLUMNS}"
        );
        let args = Args::new().int(webhook.0).text(topic.as_str()).json(body).int(self.now().0);
        let row = self.connection.fetch_optional(sql, args).await?;
        read(&row.ok_or(StoreError::NotFound { what: "webhook" })?)
    }

    /// Resets a delivery to pending with no attempts, regardless of its status. Returns `None` if it does not
    /// exist.
    pub async fn delivery_redeliver(&mut self, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let sql = format!(
            "UPDATE {TABLE} SET status = 'pending', attempts = 0, due_at = $1, problem = NULL \
             WHERE id = $2 RETURNING {COLUMNS}"
        );
        let args = Args::new().int(self.now().0).int(id.0);
        let row = self.connection.fetch_optional(sql, args).await?;
        row.as_ref().map(read).transpose()
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
