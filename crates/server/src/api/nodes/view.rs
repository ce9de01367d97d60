//! Request and response types of nodes.

use stoker_api_types::nodes::NodeView;
use stoker_model::{Json, JsonMap, Node, NodeErrorKind};
use stoker_state::Secrets;
use utoipa::ToSchema;

use stoker_services::clock;

/// Converts a node and includes its facts. Facts under keys that name secrets are masked.
pub(super) fn render_node_with_facts(mut node: Node) -> NodeView {
    let mut facts = Json::Object(std::mem::take(&mut node.facts));
    Secrets::default().mask(&mut facts);
    NodeView { facts: facts.as_object().cloned(), ..render_node(node) }
}

pub(super) fn render_node(node: Node) -> NodeView {
    NodeView {
        id: node.id.0,
        name: node.name,
        meta: node.meta,
        mac: node.mac,
        ip: node.ip,
        fqdn: node.hostname.clone(),
        hostname: node.hostname,
        status: node.status.as_str().to_owned(),
        online: node.online,
        roles: node.roles,
        pending_roles: node.pending_roles,
        pending_addition: node.pending_addition,
        pending_deletion: node.pending_deletion,
        cluster: node.cluster_id.map(|id| id.0),
        labels: node.labels,
        error_type: node.error_type.map(NodeErrorKind::as_str).map(str::to_owned),
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

/// Discovered node. Unknown fields are stored as facts of the node.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NewNodeBody {
    /// MAC address that identifies the node.
    #[schema(example = "52:54:00:12:34:56")]
    mac: String,
    /// Only `discover` is valid.
    #[schema(example = "discover")]
    status: Option<String>,
    /// IP address.
    #[schema(example = "10.20.0.7")]
    ip: Option<String>,
    /// Display name (default `Untitled (34:56)`, from the MAC address).
    name: Option<String>,
    /// Hostname (default `node-7`, from the ID).
    hostname: Option<String>,
    /// Inventory. Must contain `interfaces`, a list.
    #[schema(value_type = Option<Object>, example = json!({"interfaces": []}))]
    meta: Option<JsonMap>,
    /// Manufacturer of the machine.
    manufacturer: Option<String>,
    /// Hardware platform of the machine.
    platform_name: Option<String>,
    /// Operating system of the machine.
    os_platform: Option<String>,
    /// Labels: text or null by name.
    #[schema(value_type = Option<Object>)]
    labels: Option<JsonMap>,
}

/// Update of a node. Omitted fields are unchanged. Read-only fields are accepted and ignored.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NodeBody {
    /// Display name.
    #[schema(nullable = false, example = "db 1")]
    name: Option<String>,
    /// Hostname, unique within the cluster. Cannot be changed after provisioning.
    #[schema(nullable = false, example = "db-1")]
    hostname: Option<String>,
    /// Replaces all labels.
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"rack": "a1"}))]
    labels: Option<JsonMap>,
    /// Status of the node.
    #[schema(nullable = false, example = "ready")]
    status: Option<String>,
    /// Whether the node is online.
    #[schema(nullable = false)]
    online: Option<bool>,
    /// Roles that are deployed.
    #[schema(nullable = false)]
    roles: Option<Vec<String>>,
    /// Roles that the next run deploys.
    #[schema(nullable = false)]
    pending_roles: Option<Vec<String>>,
    /// Whether the next run adds the node to its cluster.
    #[schema(nullable = false)]
    pending_addition: Option<bool>,
    /// Whether the next run removes the node from its cluster.
    #[schema(nullable = false)]
    pending_deletion: Option<bool>,
    /// Cluster of the node; also accepted as `cluster`. Null removes the node from its cluster.
    cluster_id: Option<i64>,
    /// Inventory of the machine.
    #[schema(nullable = false, value_type = Option<Object>)]
    meta: Option<JsonMap>,
    /// MAC address that identifies the node.
    mac: Option<String>,
    /// IP address.
    ip: Option<String>,
    /// Operation that failed.
    error_type: Option<String>,
    /// Error message of the failed operation.
    error_msg: Option<String>,
    /// Progress of the current run on this node, in percent.
    #[schema(nullable = false, minimum = 0, maximum = 100)]
    progress: Option<i64>,
    /// ID of the node group.
    group_id: Option<i64>,
    /// Manufacturer of the machine.
    manufacturer: Option<String>,
    /// Hardware platform of the machine.
    platform_name: Option<String>,
    /// Operating system of the machine.
    os_platform: Option<String>,
    /// Kernel parameters.
    kernel_params: Option<String>,
}

/// Update of one of several nodes, which `id` or `mac` identifies.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NamedNodeBody {
    /// ID of the node.
    #[schema(example = 7)]
    id: Option<i64>,
    /// MAC address of the node.
    mac: Option<String>,
    /// Display name.
    #[schema(nullable = false)]
    name: Option<String>,
    /// Replaces all labels.
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"rack": "a1"}))]
    labels: Option<JsonMap>,
}
