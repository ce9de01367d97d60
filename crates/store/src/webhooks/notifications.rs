//! What happened, for people; and, in the same moment, for webhooks.

use stoker_model::{
    ClusterId, NewNotification, NodeId, Notification, NotificationId, RunId, TenantId, Topic,
};

use crate::sql::{Args, Many, Row, Select};
use crate::{List, Page, Session, StoreError, Writing};

const TABLE: &str = "notifications";
const SELECT: &str = "SELECT id, topic, at, message, cluster_id, run_id, node_id, is_read FROM notifications";
const ADD: Many<'_> = Many {
    before: "INSERT INTO notifications (topic, at, message, cluster_id, run_id, node_id, is_read)",
    after: "",
};
const ORDERS: &[&str] = &["id", "topic", "at", "cluster_id", "run_id", "node_id", "is_read"];

/// Which notifications; a field that is `None` excludes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationFilter {
    /// Of clusters of this tenant.
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
    /// Newest first.
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
        let counted = row.map(|row| row.columns(TABLE).int()).transpose()?;
        Ok(u64::try_from(counted.unwrap_or_default()).unwrap_or_default())
    }
}

impl Writing {
    /// Notes that something happened, and has it told to every webhook that wants to know: how many those are.
    pub async fn notification_add(&mut self, new: &NewNotification) -> Result<usize, StoreError> {
        self.notifications_add(std::slice::from_ref(new)).await
    }

    /// The same for many at once.
    pub async fn notifications_add(&mut self, news: &[NewNotification]) -> Result<usize, StoreError> {
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
        self.connection.write_many(ADD, news.iter().map(row).collect()).await?;
        let webhooks =
            if news.is_empty() { Vec::new() } else { self.webhook_list(&List::default()).await?.items };
        let mut n_told = 0;
        for new in news {
            for webhook in webhooks.iter().filter(|webhook| webhook.body.wants(new.topic, new.cluster_id)) {
                self.delivery_create(webhook.id, new.topic, &new.body).await?;
                n_told += 1;
            }
        }
        Ok(n_told)
    }

    /// Marks notifications as read or not: how many changed.
    pub async fn notification_mark(
        &mut self,
        filter: &NotificationFilter,
        is_read: bool,
    ) -> Result<u64, StoreError> {
        let filter = NotificationFilter { is_read: Some(!is_read), ..filter.clone() };
        let (condition, args) = filter.select(self.select()).finish();
        // Spelled as both engines read it.
        let value = if is_read { "(1 = 1)" } else { "(1 = 0)" };
        self.connection.execute(format!("UPDATE {TABLE} SET is_read = {value}{condition}"), args).await
    }
}
