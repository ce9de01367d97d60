//! Nodes.

use std::collections::HashMap;

use stoker_model::{
    Actor, Cluster, ClusterId, JsonMap, Micros, NewNode, Node, NodeErrorKind, NodeId, NodeStatus, TenantId,
};

use crate::sql::{Args, Columns, Record, Row, Table, is_key};
use crate::{List, Page, Session, Store, StoreError, WriteTransaction};

/// Number of trailing MAC address characters in the default name of a node.
const MAC_TAIL: usize = 5;

/// Filter for nodes; a field that is `None` matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFilter {
    /// `Some(None)` selects nodes without a cluster.
    pub cluster: Option<Option<ClusterId>>,
    /// Nodes in clusters of this tenant.
    pub tenant_id: Option<TenantId>,
    pub ids: Option<Vec<NodeId>>,
}

impl Record for Node {
    const TABLE: Table = Table {
        name: "nodes",
        noun: "node",
        columns: &[
            "cluster_id",
            "name",
            "mac",
            "ip",
            "hostname",
            "status",
            "online",
            "roles",
            "pending_roles",
            "pending_addition",
            "pending_deletion",
            "error_type",
            "error_msg",
            "progress",
            "group_id",
            "manufacturer",
            "platform_name",
            "os_platform",
            "kernel_params",
            "labels",
            "meta",
            "attributes",
            "facts",
            "agent_checksum",
            "last_seen_at",
            "created_at",
        ],
        orders: &[
            "id",
            "cluster_id",
            "name",
            "mac",
            "ip",
            "hostname",
            "status",
            "online",
            "pending_addition",
            "pending_deletion",
            "error_type",
            "progress",
            "group_id",
            "manufacturer",
            "platform_name",
            "os_platform",
            "last_seen_at",
            "created_at",
        ],
    };

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: NodeId(columns.int()?),
            generation: columns.int()?,
            cluster_id: columns.opt_int()?.map(ClusterId),
            name: columns.text()?,
            mac: columns.text()?,
            ip: columns.opt_text()?,
            hostname: columns.text()?,
            status: columns.word(NodeStatus::parse)?,
            online: columns.bool()?,
            roles: columns.strings()?,
            pending_roles: columns.strings()?,
            pending_addition: columns.bool()?,
            pending_deletion: columns.bool()?,
            error_type: columns.opt_word(NodeErrorKind::parse)?,
            error_msg: columns.opt_text()?,
            progress: columns.int()?,
            group_id: columns.opt_int()?,
            manufacturer: columns.opt_text()?,
            platform_name: columns.opt_text()?,
            os_platform: columns.opt_text()?,
            kernel_params: columns.opt_text()?,
            labels: columns.map()?,
            meta: columns.map()?,
            attributes: columns.map()?,
            facts: columns.map()?,
            agent_checksum: columns.opt_text()?,
            last_seen_at: columns.opt_time()?,
            created_at: columns.time()?,
        })
    }
}

fn args(node: &Node) -> Args {
    Args::new()
        .opt_int(node.cluster_id.map(|id| id.0))
        .text(&node.name)
        .key(&node.mac)
        .opt_text(node.ip.as_deref())
        .key(&node.hostname)
        .text(node.status.as_str())
        .bool(node.online)
        .strings(&node.roles)
        .strings(&node.pending_roles)
        .bool(node.pending_addition)
        .bool(node.pending_deletion)
        .opt_text(node.error_type.map(NodeErrorKind::as_str))
        .opt_text(node.error_msg.as_deref())
        .int(node.progress)
        .opt_int(node.group_id)
        .opt_text(node.manufacturer.as_deref())
        .opt_text(node.platform_name.as_deref())
        .opt_text(node.os_platform.as_deref())
        .opt_text(node.kernel_params.as_deref())
        .map(&node.labels)
        .map(&node.meta)
        .map(&node.attributes)
        .map(&node.facts)
        .opt_text(node.agent_checksum.as_deref())
        .opt_time(node.last_seen_at)
        .int(node.created_at.0)
}

impl Session {
    pub async fn node_list(&mut self, filter: &NodeFilter, list: &List) -> Result<Page<Node>, StoreError> {
        let mut select =
            self.select().and_optional("cluster_id", filter.cluster.map(|cluster| cluster.map(|id| id.0)));
        if let Some(tenant_id) = filter.tenant_id {
            let condition = "cluster_id IN (SELECT id FROM clusters WHERE tenant_id = ?)";
            select = select.and(condition, |args| args.int(tenant_id.0));
        }
        if let Some(ids) = &filter.ids {
            select = select.and_ids("id", ids.iter().map(|id| id.0));
        }
        self.list(select, list).await
    }

    pub async fn node_get(&mut self, id: NodeId) -> Result<Option<Node>, StoreError> {
        self.get(id.0).await
    }

    pub async fn node_by_mac(&mut self, mac: &str) -> Result<Option<Node>, StoreError> {
        if !is_key(mac) {
            return Ok(None);
        }
        self.get_where("mac = $1", Args::new().key(mac)).await
    }
}

/// Number of nodes of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCount {
    pub cluster_id: ClusterId,
    pub n_nodes: i64,
    pub n_online: i64,
}

impl Session {
    /// Counts for those of the clusters that have nodes.
    pub async fn node_counts(&mut self, clusters: &[ClusterId]) -> Result<Vec<NodeCount>, StoreError> {
        let select = self.select().and_ids("cluster_id", clusters.iter().map(|id| id.0));
        let (conditions, args) = select.finish();
        let sql = format!(
            "SELECT cluster_id, count(*), sum(CASE WHEN online THEN 1 ELSE 0 END) FROM nodes{conditions} \
             GROUP BY cluster_id ORDER BY cluster_id"
        );
        let read = |row: &Row| {
            let mut columns = row.columns("nodes");
            Ok(NodeCount {
                cluster_id: ClusterId(columns.int()?),
                n_nodes: columns.int()?,
                n_online: columns.int()?,
            })
        };
        self.connection.fetch_all(sql, args).await?.iter().map(read).collect()
    }

    /// Names of those of the nodes that are in the cluster. Reads no other columns, because there may be
    /// thousands.
    pub async fn node_names(
        &mut self,
        cluster: ClusterId,
        ids: &[NodeId],
    ) -> Result<HashMap<NodeId, String>, StoreError> {
        let select = self.select().and_int("cluster_id = ?", Some(cluster.0));
        let (conditions, args) = select.and_ids("id", ids.iter().map(|id| id.0)).finish();
        let rows = self.connection.fetch_all(format!("SELECT id, name FROM nodes{conditions}"), args).await?;
        let read = |row: &Row| {
            let mut columns = row.columns("nodes");
            Ok((NodeId(columns.int()?), columns.text()?))
        };
        rows.iter().map(read).collect()
    }

    /// Up to `limit` nodes with this name or hostname.
    pub async fn nodes_by_name(&mut self, name: &str, limit: u32) -> Result<Vec<Node>, StoreError> {
        if !is_key(name) {
            return Ok(Vec::new());
        }
        let sql = format!(
            "{} WHERE name = $1 OR hostname = $1 ORDER BY id LIMIT {limit}",
            Node::TABLE.select_sql()
        );
        let rows = self.connection.fetch_all(sql, Args::new().key(name)).await?;
        rows.iter().map(Node::from_row).collect()
    }
}

impl Store {
    /// Records a heartbeat of a node that reported no changes. The generation is unchanged and there is no
    /// audit entry, because heartbeats would fill the log. Returns whether the node exists.
    pub async fn node_heartbeat(&self, id: NodeId, now: Micros) -> Result<bool, StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        let sql = "UPDATE nodes SET last_seen_at = $1 WHERE id = $2".to_owned();
        let n_rows = writing.connection.execute(sql, Args::new().int(now.0).int(id.0)).await?;
        writing.commit_unaudited().await?;
        Ok(n_rows == 1)
    }
}

impl WriteTransaction {
    /// Creates a newly discovered node: unassigned, online, without roles.
    pub async fn node_create(&mut self, new: &NewNode) -> Result<Node, StoreError> {
        let mut node = new_node(new, self.now());
        let taken = StoreError::AlreadyExists { what: "mac" };
        node.id = NodeId(self.insert::<Node>("(mac)", args(&node)).await?.ok_or(taken)?);
        if new.hostname.is_none() {
            node.hostname = format!("node-{}", node.id);
            let sql = "UPDATE nodes SET hostname = $1 WHERE id = $2".to_owned();
            self.connection.execute(sql, Args::new().key(&node.hostname).int(node.id.0)).await?;
        }
        Ok(node)
    }

    pub async fn node_update(&mut self, node: &Node) -> Result<Node, StoreError> {
        let mac = "SELECT 1 FROM nodes WHERE mac = $1 AND id <> $2".to_owned();
        if self.exists(mac, Args::new().key(&node.mac).int(node.id.0)).await? {
            return Err(StoreError::AlreadyExists { what: "mac" });
        }
        if let Some(cluster_id) = node.cluster_id {
            self.require::<Cluster>(cluster_id.0).await?;
            let hostname =
                "SELECT 1 FROM nodes WHERE cluster_id = $1 AND hostname = $2 AND id <> $3".to_owned();
            let key = Args::new().int(cluster_id.0).key(&node.hostname).int(node.id.0);
            if self.exists(hostname, key).await? {
                return Err(StoreError::AlreadyExists { what: "hostname" });
            }
        }
        let generation = self.replace::<Node>(node.id.0, node.generation, args(node)).await?;
        self.node_modules_delete_foreign(node.id, node.cluster_id).await?;
        Ok(Node { generation, ..node.clone() })
    }

    /// Returns whether the node existed.
    pub async fn node_delete(&mut self, id: NodeId) -> Result<bool, StoreError> {
        self.delete::<Node>(id.0).await
    }
}

fn new_node(new: &NewNode, now: stoker_model::Micros) -> Node {
    let n_skipped = new.mac.chars().count().saturating_sub(MAC_TAIL);
    let tail: String = new.mac.chars().skip(n_skipped).collect();
    Node {
        id: NodeId(0),
        generation: 1,
        cluster_id: None,
        name: new.name.clone().unwrap_or_else(|| format!("Untitled ({tail})")),
        mac: new.mac.clone(),
        ip: new.ip.clone(),
        hostname: new.hostname.clone().unwrap_or_default(),
        status: NodeStatus::Discover,
        online: true,
        roles: Vec::new(),
        pending_roles: Vec::new(),
        pending_addition: false,
        pending_deletion: false,
        error_type: None,
        error_msg: None,
        progress: 0,
        group_id: None,
        manufacturer: new.manufacturer.clone(),
        platform_name: new.platform_name.clone(),
        os_platform: new.os_platform.clone(),
        kernel_params: None,
        labels: new.labels.clone(),
        meta: new.meta.clone(),
        attributes: JsonMap::new(),
        facts: new.facts.clone(),
        agent_checksum: None,
        last_seen_at: Some(now),
        created_at: now,
    }
}
