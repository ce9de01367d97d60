//! Notifications in the web UI. Each notification also queues its webhook deliveries in the same transaction.

use stoker_model::{ClusterId, NewNotification, Notification, NotificationId, TenantId, Topic};

use crate::sql::{Select, Values, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TABLE: &str = "notifications";

record! {
    Notification in "notifications", "notification" {
        id [auto sort],
        topic [sort],
        at [sort],
        message,
        cluster_id [sort],
        run_id [sort],
        node_id [sort],
        is_read [sort],
    }
}

/// Filter for notifications; a field that is `None` matches all notifications.
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

impl Session {
    /// Lists notifications, newest first by default.
    pub async fn notification_list(
        &mut self,
        filter: &NotificationFilter,
        list: &List,
    ) -> Result<Page<Notification>, StoreError> {
        let select = filter.select(self.select());
        self.list_by("id DESC", select, list).await
    }

    pub async fn notification_count(&mut self, filter: &NotificationFilter) -> Result<u64, StoreError> {
        let (condition, args) = filter.select(self.select()).finish();
        let n_rows = self.number(format!("SELECT count(*) AS n FROM {TABLE}{condition}"), args).await?;
        Ok(u64::try_from(n_rows).unwrap_or_default())
    }
}

impl WriteTransaction {
    /// Adds a notification and queues a delivery for each subscribed webhook. Returns the number of
    /// deliveries.
    pub async fn notification_add(&mut self, new: &NewNotification) -> Result<usize, StoreError> {
        self.notifications_add(std::slice::from_ref(new)).await
    }

    /// Adds several notifications; see [`WriteTransaction::notification_add`].
    pub async fn notifications_add(
        &mut self,
        notifications: &[NewNotification],
    ) -> Result<usize, StoreError> {
        let now = self.now();
        let row = |new: &NewNotification| {
            Values::new()
                .set("topic", &new.topic)
                .set("at", &now)
                .set("message", &new.message)
                .set("cluster_id", &new.cluster_id)
                .set("run_id", &new.run_id)
                .set("node_id", &new.node_id)
                .set("is_read", &false)
        };
        self.connection.insert_many(TABLE, notifications.iter().map(row).collect(), "").await?;
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

    /// Marks notifications as read or unread. Returns the number of changed notifications.
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
