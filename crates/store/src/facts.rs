//! Documents that users supply in place of computed ones.

use stoker_model::{Cluster, ClusterId, FactsKind, Json};

use crate::sql::Args;
use crate::{Session, StoreError, Writing};

const TABLE: &str = "cluster_facts";

impl Session {
    /// The documents by uid, in the order in which the uids were first put.
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

impl Writing {
    /// Adds documents, or replaces those of the same uid; others stay.
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

    /// All documents of that kind; how many there were.
    pub async fn facts_delete(&mut self, cluster_id: ClusterId, kind: FactsKind) -> Result<u64, StoreError> {
        let sql = "DELETE FROM cluster_facts WHERE cluster_id = $1 AND kind = $2".to_owned();
        self.connection.execute(sql, Args::new().int(cluster_id.0).text(kind.as_str())).await
    }
}
