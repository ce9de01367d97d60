//! Notifications in the web UI. Each one also queues its webhook deliveries in the same transaction.

use stoker_model::{
    ClusterId, NewNotification, NodeId, Notification, NotificationId, RunId, TenantId, Topic,
};

use crate::sql::{Args, Many, Row, Select};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TABLE: &str = "notifications";
const SELECT: &str = "SELECT id, topic, at, message, cluster_id, run_id, node_id, is_read FROM notifications";
const ADD: Many<'_> = Many {
    before: "INSERT INTO notifications (topic, at, message, cluster_id, run_id, node_id, is_read)",
    after: "",
};
const ORDERS: &[&str] = &["id", "topic", "at", "cluster_id", "run_id", "node_id", "is_read"];

/// Filter for notifications; a field that is `None` matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationFilter {
    /// Notifications about clusters of this tenant.
    pub tenant_id: Option<TenantId>,
    pub cluster_id: Option<ClusterId>,
    pub ids: Option<Vec<NotificationId>>,
    pub topics: Option<Vec<Topic>>,
    pub is_read: Option<bool>,
}

impl NotificationFilter {
    fn select(&self, mut select: Select) -> Select {
        let of_tenant = "cluster_id IN (SELECT id FROM clusters WHERE tenant_id = ?)";
        select = select.and_int(of_tenant, self.tenant_id.map(|id| id.0));
        select = select.and_int("cluster_id = ?", self.cluster_id.map(|id| id.0));
        if let Some(ids) = &self.ids {
            select = select.and_ids("id", ids.iter().map(|id| id.0));
        }
        if let Some(topics) = &self.topics {
            select = select.and_texts("topic", topics.iter().map(|topic| topic.as_str()));
        }
        if let Some(is_read) = self.is_read {
            select = select.and("is_read = ?", |args| args.bool(is_read));
        }
        select
    }
}

fn read(row: &Row) -> Result<Notification, StoreError> {
    let mut columns = row.columns(TABLE);
    Ok(Notification {
        id: NotificationId(columns.int()?),
        topic: columns.word(Topic::parse)?,
        at: columns.time()?,
        message: columns.text()?,
        cluster_id: columns.opt_int()?.map(ClusterId),
        run_id: columns.opt_int()?.map(RunId),
        node_id: columns.opt_int()?.map(NodeId),
        is_read: columns.bool()?,
    })
}

impl Session {
    /// Newest first by default.
    pub async fn notification_list(
        &mut self,
        filter: &NotificationFilter,
        list: &List,
    ) -> Result<Page<Notification>, StoreError> {
        let order = list.order_sql(ORDERS, "id DESC")?;
        let select = filter.select(self.select());
        let (rows, total) = self.page(SELECT, TABLE, select, &order, list).await?;
        Ok(Page { items: rows.iter().map(read).collect::<Result<_, _>>()?, total })
    }

    pub async fn notification_count(&mut self, filter: &NotificationFilter) -> Result<u64, StoreError> {
        let (condition, args) = filter.select(self.select()).finish();
        let sql = format!("SELECT count(*) FROM {TABLE}{condition}");
        let row = self.connection.fetch_optional(sql, args).await?;
        let n_rows = row.map(|row| row.columns(TABLE).int()).transpose()?;
        Ok(u64::try_from(n_rows.unwrap_or_default()).unwrap_or_default())
    }
}

impl WriteTransaction {
    /// Adds a notification and queues a delivery for each subscribed webhook. Returns the number of
    /// deliveries.
    pub async fn notification_add(&mut self, new: &NewNotification) -> Result<usize, StoreError> {
        self.notifications_add(std::slice::from_ref(new)).await
    }

    /// Bulk version of [`Writing::notification_add`].
    pub async fn notifications_add(
        &mut self,
        notifications: &[NewNotification],
    ) -> Result<usize, StoreError> {
        let now = self.now().0;
        let row = |new: &NewNotification| {
            Args::new()
                .text(new.topic.as_str())
                .int(now)
                .text(&new.message)
                .opt_int(new.cluster_id.map(|id| id.0))
                .opt_int(new.run_id.map(|id| id.0))
                .opt_int(new.node_id.map(|id| id.0))
                .bool(false)
        };
        self.connection.write_many(ADD, notifications.iter().map(row).collect()).await?;
        let webhooks = if notifications.is_empty() {
            Vec::new()
        } else {
            self.webhook_list(&List::default()).await?.items
        };
        let mut n_deliveries = 0;
        for new in notifications {
            for webhook in
                webhooks.iter().filter(|webhook| webhook.body.is_subscribed(new.topic, new.cluster_id))
            {
                self.delivery_create(webhook.id, new.topic, &new.body).await?;
                n_deliveries += 1;
            }
        }
        Ok(n_deliveries)
    }

    /// Marks notifications as read or unread. Returns the number of changed ones.
    pub async fn notification_mark(
        &mut self,
        filter: &NotificationFilter,
        is_read: bool,
    ) -> Result<u64, StoreError> {
        let filter = NotificationFilter { is_read: Some(!is_read), ..filter.clone() };
        let (condition, args) = filter.select(self.select()).finish();
        // A boolean literal that both engines accept.
        let value = if is_read { "(1 = 1)" } else { "(1 = 0)" };
        self.connection.execute(format!("UPDATE {TABLE} SET is_read = {value}{condition}"), args).await
    }
}
