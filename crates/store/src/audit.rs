//! The audit log: append-only, written in the transaction of each change.

use stoker_model::{AuditChange, AuditEntry, AuditId, Micros, UserId};

use crate::sql::{Args, Values, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TABLE: &str = "audit_entries";

record! {
    AuditEntry in "audit_entries", "audit log entry" {
        id [auto sort],
        at [sort],
        user_id [sort],
        user_name [sort],
        address [sort],
        action [sort],
        target [sort],
        detail,
    }
}

/// Filter for audit entries; a field that is `None` matches all entries.
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

impl Session {
    /// Returns the ID of the last entry. It changes only when an audited change is committed, so it can
    /// validate caches.
    pub async fn audit_last(&mut self) -> Result<AuditId, StoreError> {
        let sql = format!("SELECT COALESCE(MAX(id), 0) AS n FROM {TABLE}");
        self.number(sql, Args::new()).await.map(AuditId)
    }

    /// Lists entries, newest first by default.
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
        self.list_by("id DESC", select, list).await
    }
}

impl WriteTransaction {
    pub(crate) async fn audit_append(&mut self, change: &AuditChange) -> Result<(), StoreError> {
        let actor = self.actor();
        let values = Values::new()
            .set("at", &self.now())
            .set("user_id", &actor.user_id)
            .set("user_name", &actor.user_name)
            .set("address", &actor.address)
            .text("action", change.action)
            .set("target", &change.target)
            .set("detail", &change.detail);
        self.connection.insert(TABLE, values, "").await.map(drop)
    }
}
