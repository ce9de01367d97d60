//! Documents that users upload to override computed ones.

use stoker_model::{Cluster, ClusterId, FactsKind, Json};

use crate::sql::Args;
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "cluster_facts";

impl Session {
    /// Documents with their node uids, in order of first upload.
    pub async fn facts_get(
        &mut self,
        cluster_id: ClusterId,
        kind: FactsKind,
    ) -> Result<Vec<(String, Json)>, StoreError> {
        let sql = "SELECT uid, document FROM cluster_facts WHERE cluster_id = $1 AND kind = $2 ORDER BY id";
        let args = Args::new().int(cluster_id.0).text(kind.as_str());
        let rows = self.connection.fetch_all(sql.to_owned(), args).await?;
        let read = |row: &crate::sql::Row| {
            let mut columns = row.columns(TABLE);
            Ok((columns.text()?, columns.json()?))
        };
        rows.iter().map(read).collect()
    }
}

impl WriteTransaction {
    /// Upserts documents by uid; other documents are unchanged.
    pub async fn facts_put(
        &mut self,
        cluster_id: ClusterId,
        kind: FactsKind,
        facts: &[(String, Json)],
    ) -> Result<(), StoreError> {
        self.require::<Cluster>(cluster_id.0).await?;
        let sql = "INSERT INTO cluster_facts (cluster_id, kind, uid, document) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (cluster_id, kind, uid) DO UPDATE SET document = excluded.document";
        for (uid, document) in facts {
            let args = Args::new().int(cluster_id.0).text(kind.as_str()).key(uid).json(document);
            self.connection.execute(sql.to_owned(), args).await?;
        }
        Ok(())
    }

    /// Deletes all documents of this kind. Returns their number.
    pub async fn facts_delete(&mut self, cluster_id: ClusterId, kind: FactsKind) -> Result<u64, StoreError> {
        let sql = "DELETE FROM cluster_facts WHERE cluster_id = $1 AND kind = $2".to_owned();
        self.connection.execute(sql, Args::new().int(cluster_id.0).text(kind.as_str())).await
    }
}
