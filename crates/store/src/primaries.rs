//! Primary nodes: for each tag of a cluster, the node that was elected first.

use std::collections::BTreeMap;

use stoker_model::{Cluster, ClusterId, NodeId};

use crate::sql::Args;
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "cluster_primaries";

impl Session {
    pub async fn primaries_get(
        &mut self,
        cluster_id: ClusterId,
    ) -> Result<BTreeMap<String, NodeId>, StoreError> {
        let sql = format!("SELECT tag, node_id FROM {TABLE} WHERE cluster_id = $1");
        let rows = self.connection.fetch_all(sql, Args::new().int(cluster_id.0)).await?;
        let read = |row: &crate::sql::Row| {
            let mut columns = row.columns(TABLE);
            Ok((columns.text()?, NodeId(columns.int()?)))
        };
        rows.iter().map(read).collect()
    }
}

impl WriteTransaction {
    /// Replaces all primaries of a cluster; tags that are not listed have none.
    pub async fn primaries_put(
        &mut self,
        cluster_id: ClusterId,
        primaries: &BTreeMap<String, NodeId>,
    ) -> Result<(), StoreError> {
        self.require::<Cluster>(cluster_id.0).await?;
        let delete = format!("DELETE FROM {TABLE} WHERE cluster_id = $1");
        self.connection.execute(delete, Args::new().int(cluster_id.0)).await?;
        for (tag, node_id) in primaries {
            let sql = format!("INSERT INTO {TABLE} (cluster_id, tag, node_id) VALUES ($1, $2, $3)");
            self.connection.execute(sql, Args::new().int(cluster_id.0).key(tag).int(node_id.0)).await?;
        }
        Ok(())
    }
}
