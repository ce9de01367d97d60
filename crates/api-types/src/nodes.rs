//! Nodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stoker_model::{Json, JsonMap};
use utoipa::ToSchema;

/// Response to a heartbeat.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = NodeReportAnswer)]
pub struct ReportView {
    /// ID of the node.
    #[schema(example = 7)]
    pub id: i64,
    /// True if the checksum is unchanged, so the report was not evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cached: Option<bool>,
}

/// Node statistics.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = NodeAllocationStats)]
pub struct StatsView {
    /// Number of nodes that the caller may see.
    pub total: u64,
    /// Number of nodes without a cluster.
    pub unallocated: u64,
    /// Number of nodes by property. Only with `details`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<KindsView>,
}

/// Number of nodes by property.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[schema(as = NodeKinds)]
pub struct KindsView {
    /// Number of nodes that match `cluster_id`.
    pub total: u64,
    /// Number of online nodes.
    pub online: u64,
    /// Number of nodes that the next run of their cluster adds.
    pub to_be_added: u64,
    /// Number of nodes by status.
    pub statuses: BTreeMap<String, u64>,
    /// Number of nodes by role, assigned or pending.
    pub roles: BTreeMap<String, u64>,
    /// Number of nodes by label: `rack=7`, or only the name for labels without a value. At most 500 labels.
    pub labels: BTreeMap<String, u64>,
}

/// Machine in a cluster, or available for one.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Node)]
pub struct NodeView {
    /// ID of the node.
    #[schema(example = 7)]
    pub id: i64,
    /// Display name.
    #[schema(example = "Untitled (34:56)")]
    pub name: String,
    /// Inventory that the agent reported.
    #[schema(value_type = Object)]
    pub meta: JsonMap,
    /// MAC address that identifies the node.
    #[schema(example = "52:54:00:12:34:56")]
    pub mac: String,
    /// IP address.
    #[schema(example = "10.20.0.7")]
    pub ip: Option<String>,
    /// Hostname, unique within the cluster.
    #[schema(example = "node-7")]
    pub hostname: String,
    /// Same as `hostname`.
    pub fqdn: String,
    /// Status: `discover`, `provisioning`, `provisioned`, `deploying`, `ready`, `error`, `removing` or
    /// `stopped`.
    #[schema(example = "discover")]
    pub status: String,
    /// Whether the node is online.
    pub online: bool,
    /// Roles that are deployed.
    #[schema(example = json!(["controller"]))]
    pub roles: Vec<String>,
    /// Roles that the next run deploys.
    pub pending_roles: Vec<String>,
    /// Whether the next run adds the node to its cluster.
    pub pending_addition: bool,
    /// Whether the next run removes the node from its cluster.
    pub pending_deletion: bool,
    /// ID of the cluster of the node.
    #[schema(example = 3)]
    pub cluster: Option<i64>,
    /// Labels: text or null by name.
    #[schema(value_type = Object, example = json!({"rack": "a1"}))]
    pub labels: JsonMap,
    /// Operation that failed: `deploy`, `provision`, `deletion`, `discover` or `stop_deployment`.
    pub error_type: Option<String>,
    /// Error message of the failed operation.
    pub error_msg: Option<String>,
    /// Progress of the current run on this node, in percent.
    #[schema(minimum = 0, maximum = 100)]
    pub progress: i64,
    /// ID of the node group.
    pub group_id: Option<i64>,
    /// Manufacturer of the machine.
    pub manufacturer: Option<String>,
    /// Hardware platform of the machine.
    pub platform_name: Option<String>,
    /// Operating system of the machine.
    pub os_platform: Option<String>,
    /// Kernel parameters.
    pub kernel_params: Option<String>,
    /// Always empty: addresses are in `meta`.
    pub network_data: Vec<Json>,
    /// Time of the last heartbeat.
    pub last_seen_at: Option<String>,
    /// Creation time.
    pub created_at: String,
    /// Facts that the agent reported about the machine. Only when a single node is retrieved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, example = json!({"cores": 8, "memory_bytes": 17_179_869_184_i64}))]
    pub facts: Option<JsonMap>,
}
