//! What became of modules on nodes.

use stoker_model::{Cluster, ClusterId, ModuleStatus, Node, NodeId, NodeModule};

use super::{BODY, body_args, read_body, read_sealed};
use crate::sql::{Args, Row, is_key};
use crate::{Session, StoreError, Writing};

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
    /// What a node carries and carried, the last applied first.
    pub async fn node_modules(&mut self, node_id: NodeId) -> Result<Vec<NodeModule>, StoreError> {
        let sql = format!("{} WHERE node_id = $1 ORDER BY updated_at DESC, uuid", select_sql());
        let rows = self.connection.fetch_all(sql, Args::new().int(node_id.0)).await?;
        rows.iter().map(from_row).collect()
    }

    /// Who carries a module, by node.
    pub async fn module_carriers(&mut self, uuid: &str) -> Result<Vec<NodeModule>, StoreError> {
        if !is_key(uuid) {
            return Ok(Vec::new());
        }
        let sql = format!("{} WHERE uuid = $1 AND removed_at IS NULL ORDER BY node_id", select_sql());
        let rows = self.connection.fetch_all(sql, Args::new().key(uuid)).await?;
        rows.iter().map(from_row).collect()
    }
}

impl Writing {
    /// Notes how a module ended on a node, in the place of what was noted before.
    pub async fn node_module_put(&mut self, applied: &NodeModule) -> Result<(), StoreError> {
        self.require::<Node>(applied.node_id.0).await?;
        self.require::<Cluster>(applied.cluster_id.0).await?;
        let gone = format!("DELETE FROM {TABLE} WHERE node_id = $1 AND uuid = $2");
        self.connection.execute(gone, Args::new().int(applied.node_id.0).key(&applied.uuid)).await?;
        let places: Vec<String> = (1..=23).map(|place| format!("${place}")).collect();
        let sql = format!(
            "INSERT INTO {TABLE} (node_id, cluster_id, uuid, {BODY}, status, message, created_at, updated_at, \
             removed_at, key_name, contents) VALUES ({})",
            places.join(", ")
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

    /// What a node carries is of the cluster it is in.
    pub(crate) async fn node_modules_forget(
        &mut self,
        node_id: NodeId,
        cluster_id: Option<ClusterId>,
    ) -> Result<(), StoreError> {
        // No cluster has this number.
        let kept = cluster_id.map_or(0, |id| id.0);
        let sql = format!("DELETE FROM {TABLE} WHERE node_id = $1 AND cluster_id <> $2");
        self.connection.execute(sql, Args::new().int(node_id.0).int(kept)).await?;
        Ok(())
    }
}
