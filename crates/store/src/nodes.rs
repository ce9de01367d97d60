//! Nodes.

use std::collections::HashMap;

use stoker_model::{Actor, Cluster, ClusterId, JsonMap, Micros, NewNode, Node, NodeId, NodeStatus, TenantId};

use crate::sql::{Args, Record as _, Values, is_key, read_pairs, record};
use crate::{List, Page, Session, Store, StoreError, WriteTransaction};

/// Number of trailing MAC address characters in the default name of a node.
const MAC_TAIL: usize = 5;

/// Filter for nodes; a field that is `None` matches all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFilter {
    /// `Some(None)` selects nodes without a cluster.
    pub cluster: Option<Option<ClusterId>>,
    /// Nodes in clusters of this tenant.
    pub tenant_id: Option<TenantId>,
    pub ids: Option<Vec<NodeId>>,
    /// Only nodes that are marked for removal.
    pub pending_deletion: bool,
}

record! {
    Node in "nodes", "node" {
        id [auto sort],
        generation [auto],
        cluster_id [sort],
        name [sort],
        mac [key sort],
        ip [sort],
        hostname [key sort],
        status [sort],
        online [sort],
        roles,
        pending_roles,
        pending_addition [sort],
        pending_deletion [sort],
        error_type [sort],
        error_msg,
        progress [sort],
        group_id [sort],
        manufacturer [sort],
        platform_name [sort],
        os_platform [sort],
        kernel_params,
        labels,
        meta,
        attributes,
        facts,
        agent_checksum,
        last_seen_at [sort],
        created_at [sort],
        instance_options,
    }
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
        if filter.pending_deletion {
            select = select.and("pending_deletion", |args| args);
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

record! {
    NodeCount in "nodes", "node count" { cluster_id, n_nodes, n_online }
}

impl Session {
    /// Returns the node counts of the given clusters, without clusters that have no nodes.
    pub async fn node_counts(&mut self, clusters: &[ClusterId]) -> Result<Vec<NodeCount>, StoreError> {
        let select = self.select().and_ids("cluster_id", clusters.iter().map(|id| id.0));
        let (conditions, args) = select.finish();
        let sql = format!(
            "SELECT cluster_id, count(*) AS n_nodes, sum(CASE WHEN online THEN 1 ELSE 0 END) AS n_online \
             FROM nodes{conditions} GROUP BY cluster_id ORDER BY cluster_id"
        );
        self.read_all(sql, args).await
    }

    /// Returns the names of those of the nodes that are in the cluster. Reads no other columns, because there
    /// may be thousands.
    pub async fn node_names(
        &mut self,
        cluster: ClusterId,
        ids: &[NodeId],
    ) -> Result<HashMap<NodeId, String>, StoreError> {
        let select = self.select().and_int("cluster_id = ?", Some(cluster.0));
        let (conditions, args) = select.and_ids("id", ids.iter().map(|id| id.0)).finish();
        let rows = self.connection.fetch_all(format!("SELECT id, name FROM nodes{conditions}"), args).await?;
        read_pairs(&rows, "nodes", ["id", "name"])
    }

    /// Returns up to `limit` nodes with this name or hostname.
    pub async fn nodes_by_name(&mut self, name: &str, limit: u32) -> Result<Vec<Node>, StoreError> {
        if !is_key(name) {
            return Ok(Vec::new());
        }
        let sql = format!(
            "{} WHERE name = $1 OR hostname = $1 ORDER BY id LIMIT {limit}",
            Node::table().select_sql()
        );
        self.read_all(sql, Args::new().key(name)).await
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
        let conflict = StoreError::AlreadyExists { what: "mac" };
        node.id = NodeId(self.insert::<Node>("(mac)", Values::of(&node)).await?.ok_or(conflict)?);
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
        let generation = self.replace(node.id.0, node.generation, node).await?;
        self.node_modules_delete_foreign(node.id, node.cluster_id).await?;
        self.applied_delete_foreign(node.id, node.cluster_id).await?;
        Ok(Node { generation, ..node.clone() })
    }

    /// Deletes a node and its applied states. Returns whether the node existed.
    pub async fn node_delete(&mut self, id: NodeId) -> Result<bool, StoreError> {
        self.applied_delete_foreign(id, None).await?;
        self.agent_machine_delete(&id.into()).await?;
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
        instance_options: JsonMap::new(),
    }
}
