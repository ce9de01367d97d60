//! Modules applied to nodes.

use stoker_model::{Cluster, ClusterId, EncryptedContents, ModuleBody, Node, NodeId, NodeModule};

use crate::sql::{Args, Record as _, Values, is_key, record};
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "node_modules";

record! {
    NodeModule in "node_modules", "module of the node" {
        node_id,
        cluster_id,
        uuid [key],
        body: ModuleBody,
        status,
        message,
        created_at,
        updated_at,
        removed_at,
        contents: EncryptedContents,
    }
}

impl Session {
    /// Returns the modules that are or were on a node, most recently applied first.
    pub async fn node_modules(&mut self, node_id: NodeId) -> Result<Vec<NodeModule>, StoreError> {
        let select = NodeModule::table().select_sql();
        let sql = format!("{select} WHERE node_id = $1 ORDER BY updated_at DESC, uuid");
        self.read_all(sql, Args::new().int(node_id.0)).await
    }

    /// Returns the nodes that have a module, by node id.
    pub async fn module_nodes(&mut self, uuid: &str) -> Result<Vec<NodeModule>, StoreError> {
        if !is_key(uuid) {
            return Ok(Vec::new());
        }
        let select = NodeModule::table().select_sql();
        let sql = format!("{select} WHERE uuid = $1 AND removed_at IS NULL ORDER BY node_id");
        self.read_all(sql, Args::new().key(uuid)).await
    }
}

impl WriteTransaction {
    /// Records the outcome of a module on a node and replaces an earlier outcome.
    pub async fn node_module_put(&mut self, applied: &NodeModule) -> Result<(), StoreError> {
        self.require::<Node>(applied.node_id.0).await?;
        self.require::<Cluster>(applied.cluster_id.0).await?;
        let delete = format!("DELETE FROM {TABLE} WHERE node_id = $1 AND uuid = $2");
        self.connection.execute(delete, Args::new().int(applied.node_id.0).key(&applied.uuid)).await?;
        self.connection.insert(TABLE, Values::of(applied), "").await?;
        Ok(())
    }

    /// Deletes the module records of a node that moved to another cluster, because they belong to a cluster.
    pub(crate) async fn node_modules_delete_foreign(
        &mut self,
        node_id: NodeId,
        cluster_id: Option<ClusterId>,
    ) -> Result<(), StoreError> {
        // Ids start at 1, so 0 matches no cluster.
        let retained = cluster_id.map_or(0, |id| id.0);
        let sql = format!("DELETE FROM {TABLE} WHERE node_id = $1 AND cluster_id <> $2");
        self.connection.execute(sql, Args::new().int(node_id.0).int(retained)).await?;
        Ok(())
    }
}
