//! Snapshots of plans, and data of a plan beside its document.

use stoker_model::{DocumentId, PlanId, Snapshot, SnapshotId};

use crate::sql::{Args, Values, record};
use crate::{Session, StoreError, WriteTransaction};

const SNAPSHOTS: &str = "state_snapshots";

/// A row: zero stands for no document, because NULLs are distinct in a unique key.
struct SnapshotRow {
    id: SnapshotId,
    common_id: DocumentId,
    graph_id: DocumentId,
    sources_id: DocumentId,
    settled_id: DocumentId,
}

record! {
    SnapshotRow in "state_snapshots", "snapshot" { id [auto], common_id, graph_id, sources_id, settled_id }
}

impl From<SnapshotRow> for Snapshot {
    fn from(row: SnapshotRow) -> Self {
        let optional = |id: DocumentId| (id.0 != 0).then_some(id);
        Self {
            id: row.id,
            common_id: row.common_id,
            graph_id: optional(row.graph_id),
            sources_id: optional(row.sources_id),
            settled_id: optional(row.settled_id),
        }
    }
}

impl Session {
    /// Snapshots by id, in no particular order. Missing ones are left out.
    pub async fn snapshots_get(&mut self, ids: &[SnapshotId]) -> Result<Vec<Snapshot>, StoreError> {
        let (condition, args) = self.select().and_ids("id", ids.iter().map(|id| id.0)).finish();
        let sql =
            format!("SELECT id, common_id, graph_id, sources_id, settled_id FROM {SNAPSHOTS}{condition}");
        let rows: Vec<SnapshotRow> = self.read_all(sql, args).await?;
        Ok(rows.into_iter().map(Snapshot::from).collect())
    }

    /// Snapshot of a plan; `None` for plans of earlier versions.
    pub async fn plan_snapshot(&mut self, plan: PlanId) -> Result<Option<Snapshot>, StoreError> {
        let condition = "id = (SELECT snapshot_id FROM plan_snapshots WHERE plan_id = $1)";
        let row: Option<SnapshotRow> = self.get_where(condition, Args::new().int(plan.0)).await?;
        Ok(row.map(Snapshot::from))
    }

    /// Encoded data of a plan beside its document.
    pub async fn plan_extras(&mut self, plan: PlanId) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT document FROM plan_extras WHERE plan_id = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().int(plan.0)).await?;
        row.map(|row| row.get("plan_extras", "document")).transpose()
    }
}

impl WriteTransaction {
    /// Assigns a snapshot with these documents to a plan. Equal documents share a snapshot.
    pub async fn plan_snapshot_put(
        &mut self,
        plan: PlanId,
        common: DocumentId,
        graph: DocumentId,
        sources: Option<DocumentId>,
        settled: Option<DocumentId>,
    ) -> Result<SnapshotId, StoreError> {
        let snapshot = self.snapshot_put(common, graph, sources, settled).await?;
        let values = Values::new().set("plan_id", &plan).set("snapshot_id", &snapshot);
        let replace = "ON CONFLICT (plan_id) DO UPDATE SET snapshot_id = excluded.snapshot_id";
        self.connection.insert("plan_snapshots", values, replace).await?;
        Ok(snapshot)
    }

    async fn snapshot_put(
        &mut self,
        common: DocumentId,
        graph: DocumentId,
        sources: Option<DocumentId>,
        settled: Option<DocumentId>,
    ) -> Result<SnapshotId, StoreError> {
        let none = DocumentId(0);
        let values = Values::new()
            .set("common_id", &common)
            .set("graph_id", &graph)
            .set("sources_id", &sources.unwrap_or(none))
            .set("settled_id", &settled.unwrap_or(none));
        // The update changes nothing; without it, an existing row would not be returned.
        let reuse = "ON CONFLICT (common_id, graph_id, sources_id, settled_id) \
                     DO UPDATE SET common_id = excluded.common_id RETURNING id";
        let row = self.connection.insert_returning(SNAPSHOTS, values, reuse).await?;
        row.ok_or(StoreError::NotFound { what: "snapshot" })?.get(SNAPSHOTS, "id")
    }

    pub async fn plan_extras_put(&mut self, plan: PlanId, document: &[u8]) -> Result<(), StoreError> {
        let values = Values::new().set("plan_id", &plan).set("document", &document.to_vec());
        self.connection.insert("plan_extras", values, "").await?;
        Ok(())
    }
}
