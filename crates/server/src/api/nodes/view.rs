//! How nodes are shown, and what may be said about them.

use serde::Serialize;
use stoker_model::{Json, JsonMap, Node, NodeErrorKind};
use stoker_state::Secrets;
use utoipa::ToSchema;

use stoker_services::clock;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Node)]
pub(super) struct NodeView {
    #[schema(example = 7)]
    id: i64,
    #[schema(example = "Untitled (34:56)")]
    name: String,
    /// Inventory as an agent reports it.
    #[schema(value_type = Object)]
    meta: JsonMap,
    #[schema(example = "52:54:00:12:34:56")]
    mac: String,
    #[schema(example = "10.20.0.7")]
    ip: Option<String>,
    #[schema(example = "node-7")]
    hostname: String,
    fqdn: String,
    /// `discover`, `provisioning`, `provisioned`, `deploying`, `ready`, `error`, `removing` or `stopped`.
    #[schema(example = "discover")]
    status: &'static str,
    online: bool,
    #[schema(example = json!(["controller"]))]
    roles: Vec<String>,
    /// Roles that the next run deploys.
    pending_roles: Vec<String>,
    pending_addition: bool,
    pending_deletion: bool,
    /// The id of its cluster.
    #[schema(example = 3)]
    cluster: Option<i64>,
    /// Label to text or null.
    #[schema(value_type = Object, example = json!({"rack": "a1"}))]
    labels: JsonMap,
    /// `deploy`, `provision`, `deletion`, `discover` or `stop_deployment`.
    error_type: Option<&'static str>,
    error_msg: Option<String>,
    #[schema(minimum = 0, maximum = 100)]
    progress: i64,
    group_id: Option<i64>,
    manufacturer: Option<String>,
    platform_name: Option<String>,
    os_platform: Option<String>,
    kernel_params: Option<String>,
    /// Always empty: addresses are in `meta`.
    network_data: Vec<Json>,
    last_seen_at: Option<String>,
    created_at: String,
    /// What its agent found out about the machine; there where one node is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, example = json!({"cores": 8, "memory_bytes": 17_179_869_184_i64}))]
    facts: Option<JsonMap>,
}

impl NodeView {
    /// What somebody has put among the facts under a key that names a secret is masked.
    pub(super) fn with_facts(mut node: Node) -> Self {
        let mut facts = Json::Object(std::mem::take(&mut node.facts));
        Secrets::default().mask(&mut facts);
        Self { facts: facts.as_object().cloned(), ..Self::from(node) }
    }
}

impl From<Node> for NodeView {
    fn from(node: Node) -> Self {
        Self {
            id: node.id.0,
            name: node.name,
            meta: node.meta,
            mac: node.mac,
            ip: node.ip,
            fqdn: node.hostname.clone(),
            hostname: node.hostname,
            status: node.status.as_str(),
            online: node.online,
            roles: node.roles,
            pending_roles: node.pending_roles,
            pending_addition: node.pending_addition,
            pending_deletion: node.pending_deletion,
            cluster: node.cluster_id.map(|id| id.0),
            labels: node.labels,
            error_type: node.error_type.map(NodeErrorKind::as_str),
            error_msg: node.error_msg,
            progress: node.progress,
            group_id: node.group_id,
            manufacturer: node.manufacturer,
            platform_name: node.platform_name,
            os_platform: node.os_platform,
            kernel_params: node.kernel_params,
            network_data: Vec::new(),
            last_seen_at: node.last_seen_at.map(clock::plain),
            created_at: clock::plain(node.created_at),
            facts: None,
        }
    }
}

/// A node as an agent finds it. Fields that are not listed here are kept as facts about it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NewNodeBody {
    #[schema(example = "52:54:00:12:34:56")]
    mac: String,
    /// Only `discover` is allowed.
    #[schema(example = "discover")]
    status: Option<String>,
    #[schema(example = "10.20.0.7")]
    ip: Option<String>,
    /// `Untitled (34:56)` if not given.
    name: Option<String>,
    /// `node-7` if not given.
    hostname: Option<String>,
    /// With `interfaces`, a list.
    #[schema(value_type = Option<Object>, example = json!({"interfaces": []}))]
    meta: Option<JsonMap>,
    manufacturer: Option<String>,
    platform_name: Option<String>,
    os_platform: Option<String>,
    #[schema(value_type = Option<Object>)]
    labels: Option<JsonMap>,
}

/// What may change; what is not given stays. Fields that only the server sets may be sent back and are ignored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NodeBody {
    #[schema(nullable = false, example = "db 1")]
    name: Option<String>,
    /// Unique in its cluster; fixed once the node is provisioned.
    #[schema(nullable = false, example = "db-1")]
    hostname: Option<String>,
    /// All labels; those not named are gone.
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"rack": "a1"}))]
    labels: Option<JsonMap>,
    #[schema(nullable = false, example = "ready")]
    status: Option<String>,
    #[schema(nullable = false)]
    online: Option<bool>,
    #[schema(nullable = false)]
    roles: Option<Vec<String>>,
    #[schema(nullable = false)]
    pending_roles: Option<Vec<String>>,
    #[schema(nullable = false)]
    pending_addition: Option<bool>,
    #[schema(nullable = false)]
    pending_deletion: Option<bool>,
    /// Also `cluster`; null takes the node out of its cluster.
    cluster_id: Option<i64>,
    #[schema(nullable = false, value_type = Option<Object>)]
    meta: Option<JsonMap>,
    mac: Option<String>,
    ip: Option<String>,
    error_type: Option<String>,
    error_msg: Option<String>,
    #[schema(nullable = false, minimum = 0, maximum = 100)]
    progress: Option<i64>,
    group_id: Option<i64>,
    manufacturer: Option<String>,
    platform_name: Option<String>,
    os_platform: Option<String>,
    kernel_params: Option<String>,
}

/// The same about one of several nodes, which is named by `id` or by `mac`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NamedNodeBody {
    #[schema(example = 7)]
    id: Option<i64>,
    mac: Option<String>,
    #[schema(nullable = false)]
    name: Option<String>,
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"rack": "a1"}))]
    labels: Option<JsonMap>,
}
