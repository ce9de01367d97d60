//! Primary nodes: for each tag of a cluster, the node that was elected first.

use std::collections::BTreeMap;

use stoker_model::{Cluster, ClusterId, NodeId};

use crate::sql::{Args, Values, read_pairs};
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "cluster_primaries";

impl Session {
    pub async fn primaries_get(
        &mut self,
        cluster_id: ClusterId,
    ) -> Result<BTreeMap<String, NodeId>, StoreError> {
        let sql = format!("SELECT tag, node_id FROM {TABLE} WHERE cluster_id = $1");
        let rows = self.connection.fetch_all(sql, Args::new().int(cluster_id.0)).await?;
        read_pairs(&rows, TABLE, ["tag", "node_id"])
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
            let values = Values::new().set("cluster_id", &cluster_id).key("tag", tag).set("node_id", node_id);
            self.connection.insert(TABLE, values, "").await?;
        }
        Ok(())
    }
}
