//! The audit log: append-only, written in the transaction of each change.

use stoker_model::{AuditChange, AuditEntry, AuditId, Micros, UserId};

use crate::sql::{Args, Columns};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TABLE: &str = "audit_entries";
const SELECT: &str = "SELECT id, at, user_id, user_name, address, action, target, detail FROM audit_entries";
const ORDERS: &[&str] = &["id", "at", "user_id", "user_name", "address", "action", "target"];

/// Filter for audit entries; a field that is `None` matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub user_id: Option<UserId>,
    /// Prefix of the action, such as `graph.` for all actions on graphs.
    pub action: Option<String>,
    pub target: Option<String>,
    /// Inclusive start.
    pub since: Option<Micros>,
    /// Exclusive end.
    pub until: Option<Micros>,
}

fn read(columns: &mut Columns<'_>) -> Result<AuditEntry, StoreError> {
    Ok(AuditEntry {
        id: AuditId(columns.int()?),
        at: columns.time()?,
        user_id: columns.opt_int()?.map(UserId),
        user_name: columns.text()?,
        address: columns.opt_text()?,
        action: columns.text()?,
        target: columns.text()?,
        detail: columns.json()?,
    })
}

impl Session {
    /// Id of the last entry. It does not change unless an audited change was committed, so it can validate
    /// caches.
    pub async fn audit_last(&mut self) -> Result<AuditId, StoreError> {
        let sql = format!("SELECT COALESCE(MAX(id), 0) FROM {TABLE}");
        let row = self.connection.fetch_optional(sql, Args::new()).await?;
        Ok(AuditId(row.map_or(Ok(0), |row| row.columns(TABLE).int())?))
    }

    /// Newest first by default.
    pub async fn audit_list(
        &mut self,
        filter: &AuditFilter,
        list: &List,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let mut select = self
            .select()
            .and_int("user_id = ?", filter.user_id.map(|id| id.0))
            .and_int("at >= ?", filter.since.map(|instant| instant.0))
            .and_int("at < ?", filter.until.map(|instant| instant.0));
        if let Some(action) = &filter.action {
            select = select.and("substr(action, 1, length(?)) = ?", |args| args.text(action));
        }
        if let Some(target) = &filter.target {
            select = select.and("target = ?", |args| args.text(target));
        }
        let order = list.order_sql(ORDERS, "id DESC")?;
        let (rows, total) = self.page(SELECT, TABLE, select, &order, list).await?;
        let items = rows.iter().map(|row| read(&mut row.columns(TABLE))).collect::<Result<_, _>>()?;
        Ok(Page { items, total })
    }
}

impl WriteTransaction {
    pub(crate) async fn audit_append(&mut self, change: &AuditChange) -> Result<(), StoreError> {
        let sql = "INSERT INTO audit_entries (at, user_id, user_name, address, action, target, detail) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let actor = self.actor();
        let args = Args::new()
            .int(self.now().0)
            .opt_int(actor.user_id.map(|id| id.0))
            .text(&actor.user_name)
            .opt_text(actor.address.as_deref())
            .text(change.action)
            .text(&change.target)
            .json(&change.detail);
        self.connection.execute(sql.to_owned(), args).await.map(drop)
    }
}
