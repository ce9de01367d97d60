//! Documents that users upload to replace computed documents.

use stoker_model::{Cluster, ClusterId, FactsKind, Json};

use crate::sql::{Args, Values, read_pairs};
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "cluster_facts";

impl Session {
    /// Returns the documents with their node uids, in order of first upload.
    pub async fn facts_get(
        &mut self,
        cluster_id: ClusterId,
        kind: FactsKind,
    ) -> Result<Vec<(String, Json)>, StoreError> {
        let sql = "SELECT uid, document FROM cluster_facts WHERE cluster_id = $1 AND kind = $2 ORDER BY id";
        let args = Args::new().int(cluster_id.0).text(kind.as_str());
        let rows = self.connection.fetch_all(sql.to_owned(), args).await?;
        read_pairs(&rows, TABLE, ["uid", "document"])
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
        let replace = "ON CONFLICT (cluster_id, kind, uid) DO UPDATE SET document = excluded.document";
        for (uid, document) in facts {
            let values = Values::new().set("cluster_id", &cluster_id).set("kind", &kind);
            let values = values.key("uid", uid).set("document", document);
            self.connection.insert(TABLE, values, replace).await?;
        }
        Ok(())
    }

    /// Deletes all documents of this type. Returns their number.
    pub async fn facts_delete(&mut self, cluster_id: ClusterId, kind: FactsKind) -> Result<u64, StoreError> {
        let sql = "DELETE FROM cluster_facts WHERE cluster_id = $1 AND kind = $2".to_owned();
        self.connection.execute(sql, Args::new().int(cluster_id.0).text(kind.as_str())).await
    }
}
