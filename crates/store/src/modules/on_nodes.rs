//! Modules applied to nodes.

use stoker_model::{Cluster, ClusterId, ModuleStatus, Node, NodeId, NodeModule};

use super::{BODY, body_args, read_body, read_sealed};
use crate::sql::{Args, Row, is_key};
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "node_modules";

fn select_sql() -> String {
    format!(
        "SELECT node_id, cluster_id, uuid, {BODY}, status, message, created_at, updated_at, removed_at, key_name, \
         contents FROM {TABLE}"
    )
}

fn from_row(row: &Row) -> Result<NodeModule, StoreError> {
    let mut columns = row.columns(TABLE);
    Ok(NodeModule {
        node_id: NodeId(columns.int()?),
        cluster_id: ClusterId(columns.int()?),
        uuid: columns.text()?,
        body: read_body(&mut columns)?,
        status: columns.word(ModuleStatus::parse)?,
        message: columns.opt_text()?,
        created_at: columns.time()?,
        updated_at: columns.time()?,
        removed_at: columns.opt_time()?,
        contents: read_sealed(&mut columns)?,
    })
}

impl Session {
    /// Modules that are or were on a node, most recently applied first.
    pub async fn node_modules(&mut self, node_id: NodeId) -> Result<Vec<NodeModule>, StoreError> {
        let sql = format!("{} WHERE node_id = $1 ORDER BY updated_at DESC, uuid", select_sql());
        let rows = self.connection.fetch_all(sql, Args::new().int(node_id.0)).await?;
        rows.iter().map(from_row).collect()
    }

    /// Nodes that have a module, by node id.
    pub async fn module_nodes(&mut self, uuid: &str) -> Result<Vec<NodeModule>, StoreError> {
        if !is_key(uuid) {
            return Ok(Vec::new());
        }
        let sql = format!("{} WHERE uuid = $1 AND removed_at IS NULL ORDER BY node_id", select_sql());
        let rows = self.connection.fetch_all(sql, Args::new().key(uuid)).await?;
        rows.iter().map(from_row).collect()
    }
}

impl WriteTransaction {
    /// Records the outcome of a module on a node, replacing an earlier one.
    pub async fn node_module_put(&mut self, applied: &NodeModule) -> Result<(), StoreError> {
        self.require::<Node>(applied.node_id.0).await?;
        self.require::<Cluster>(applied.cluster_id.0).await?;
        let delete = format!("DELETE FROM {TABLE} WHERE node_id = $1 AND uuid = $2");
        self.connection.execute(delete, Args::new().int(applied.node_id.0).key(&applied.uuid)).await?;
        let placeholders: Vec<String> = (1..=23).map(|number| format!("${number}")).collect();
        let sql = format!(
            "INSERT INTO {TABLE} (node_id, cluster_id, uuid, {BODY}, status, message, created_at, updated_at, \
             removed_at, key_name, contents) VALUES ({})",
            placeholders.join(", ")
        );
        let args = Args::new().int(applied.node_id.0).int(applied.cluster_id.0).key(&applied.uuid);
        let args = body_args(args, &applied.body)
            .text(applied.status.as_str())
            .opt_text(applied.message.as_deref())
            .int(applied.created_at.0)
            .int(applied.updated_at.0)
            .opt_time(applied.removed_at)
            .text(&applied.contents.key)
            .bytes(&applied.contents.bytes);
        self.connection.execute(sql, args).await?;
        Ok(())
    }

    /// Deletes the modules of a node that moved to another cluster: they belong to a cluster.
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
