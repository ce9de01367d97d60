//! Request and response types for nodes.

mod names;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stoker_manifest::codes;
use stoker_manifest::reader::{
    FieldUpdate, Fields, boolean, enum_of, identifier, integer, integer_in, json_map, list_of, string,
    string_with_length,
};
use stoker_model::{Json, JsonMap, NodeErrorKind, NodeStatus};
use utoipa::ToSchema;

use self::names::{read_hostname, read_ip, read_labels, read_mac, read_meta};
use crate::error::ErrorItem;
use crate::request::request;

const TEXT_CHARS_MAX: usize = 4096;

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
    /// ID of the node group; stored and returned only.
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
    /// Recommendations of the roles that the node received. Only in responses to updates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<ErrorItem>,
}

request! {
    /// Discovered node. Unknown fields are stored as facts of the node.
    pub struct NewNodeBody {
        /// MAC address that identifies the node.
        #[schema(example = "52:54:00:12:34:56", value_type = String)]
        mac: Option<String> = nullable(read_mac),
        /// Node status; only `discover` is valid.
        #[schema(example = "discover")]
        status: Option<String> = nullable(string),
        /// IP address.
        #[schema(example = "10.20.0.7")]
        ip: Option<String> = nullable(read_ip),
        /// Display name (default `Untitled (34:56)`, from the MAC address).
        name: Option<String> = nullable(string_with_length(1..=255)),
        /// Hostname (default `node-7`, from the ID).
        hostname: Option<String> = nullable(read_hostname),
        /// Inventory. Must contain `interfaces`, a list.
        #[schema(value_type = Option<Object>, example = json!({"interfaces": []}))]
        meta: Option<JsonMap> = nullable(read_meta),
        /// Manufacturer of the machine.
        manufacturer: Option<String> = nullable(string_with_length(0..=TEXT_CHARS_MAX)),
        /// Hardware platform of the machine.
        platform_name: Option<String> = nullable(string_with_length(0..=TEXT_CHARS_MAX)),
        /// Operating system of the machine.
        os_platform: Option<String> = nullable(string_with_length(0..=TEXT_CHARS_MAX)),
        /// Labels: text or null by name.
        #[schema(value_type = Option<Object>)]
        labels: Option<JsonMap> = nullable(read_labels),
    }
}

request! {
    /// Update of a node. Omitted fields are unchanged. Read-only fields of responses are accepted if they equal the stored
    /// values; `last_seen_at` and `facts` are ignored, because heartbeats change them.
    pub struct NodeBody {
        /// Display name.
        #[schema(nullable = false, example = "db 1")]
        name: Option<String> = optional(string_with_length(1..=255)),
        /// Hostname, unique within the cluster. Cannot be changed after provisioning.
        #[schema(nullable = false, example = "db-1")]
        hostname: Option<String> = optional(read_hostname),
        /// Replaces all labels.
        #[schema(nullable = false, value_type = Option<Object>, example = json!({"rack": "a1"}))]
        labels: Option<JsonMap> = optional(read_labels),
        /// Status of the node.
        #[schema(nullable = false, example = "ready", value_type = Option<String>)]
        status: Option<NodeStatus> = optional(enum_of(NodeStatus::NAMES, NodeStatus::parse)),
        /// Whether the node is online.
        #[schema(nullable = false)]
        online: Option<bool> = optional(boolean),
        /// Roles that are deployed.
        #[schema(nullable = false)]
        roles: Option<Vec<String>> = optional(list_of(string_with_length(1..=255))),
        /// Roles that the next run deploys.
        #[schema(nullable = false)]
        pending_roles: Option<Vec<String>> = optional(list_of(string_with_length(1..=255))),
        /// Whether the next run adds the node to its cluster.
        #[schema(nullable = false)]
        pending_addition: Option<bool> = optional(boolean),
        /// Whether the next run removes the node from its cluster.
        #[schema(nullable = false)]
        pending_deletion: Option<bool> = optional(boolean),
        /// Cluster of the node; also accepted as `cluster`. Null removes the node from its cluster.
        #[schema(value_type = Option<i64>)]
        cluster_id: FieldUpdate<i64> = update(identifier),
        /// Inventory of the machine.
        #[schema(nullable = false, value_type = Option<Object>)]
        meta: Option<JsonMap> = optional(json_map),
        /// MAC address that identifies the node.
        mac: Option<String> = nullable(read_mac),
        /// IP address.
        #[schema(value_type = Option<String>)]
        ip: FieldUpdate<String> = update(read_ip),
        /// Operation that failed.
        #[schema(value_type = Option<String>)]
        error_type: FieldUpdate<NodeErrorKind> = update(enum_of(NodeErrorKind::NAMES, NodeErrorKind::parse)),
        /// Error message of the failed operation.
        #[schema(value_type = Option<String>)]
        error_msg: FieldUpdate<String> = update(string_with_length(0..=TEXT_CHARS_MAX)),
        /// Progress of the current run on this node, in percent.
        #[schema(nullable = false, minimum = 0, maximum = 100)]
        progress: Option<i64> = optional(integer_in(0..=100)),
        /// ID of the node group of Fuel; stored and returned only.
        #[schema(value_type = Option<i64>)]
        group_id: FieldUpdate<i64> = update(integer),
        /// Manufacturer of the machine.
        #[schema(value_type = Option<String>)]
        manufacturer: FieldUpdate<String> = update(string_with_length(0..=TEXT_CHARS_MAX)),
        /// Hardware platform of the machine.
        #[schema(value_type = Option<String>)]
        platform_name: FieldUpdate<String> = update(string_with_length(0..=TEXT_CHARS_MAX)),
        /// Operating system of the machine.
        #[schema(value_type = Option<String>)]
        os_platform: FieldUpdate<String> = update(string_with_length(0..=TEXT_CHARS_MAX)),
        /// Kernel parameters; stored and returned only.
        #[schema(value_type = Option<String>)]
        kernel_params: FieldUpdate<String> = update(string_with_length(0..=TEXT_CHARS_MAX)),
    }
    read_only: "fqdn", "network_data", "created_at";
    // Heartbeats change these between the request that reads a node and the one that sends it back.
    // `warnings` are those of an earlier update.
    ignored: "last_seen_at", "facts", "warnings";
}

request! {
    /// Report of an agent. Unknown fields are stored as facts of the node.
    pub struct ReportBody {
        /// ID of the node. Either `id` or `mac` is required.
        #[schema(example = 7)]
        id: Option<i64> = nullable(identifier),
        /// MAC address of the node.
        #[schema(example = "52:54:00:12:34:56")]
        mac: Option<String> = nullable(read_mac),
        /// Checksum of the other fields. If it equals the previous checksum, the report is unchanged and is
        /// not evaluated.
        agent_checksum: Option<String> = nullable(string_with_length(1..=255)),
        /// IP address of the node.
        #[schema(value_type = Option<String>)]
        ip: FieldUpdate<String> = update(read_ip),
        /// Inventory of the machine.
        #[schema(value_type = Option<Object>, example = json!({"interfaces": []}))]
        meta: Option<JsonMap> = nullable(read_meta),
        /// Manufacturer of the machine.
        #[schema(value_type = Option<String>)]
        manufacturer: FieldUpdate<String> = update(string_with_length(0..=TEXT_CHARS_MAX)),
        /// Hardware platform of the machine.
        #[schema(value_type = Option<String>)]
        platform_name: FieldUpdate<String> = update(string_with_length(0..=TEXT_CHARS_MAX)),
        /// Operating system of the machine.
        #[schema(value_type = Option<String>)]
        os_platform: FieldUpdate<String> = update(string_with_length(0..=TEXT_CHARS_MAX)),
    }
}

request! {
    /// Update of one of several nodes, identified by `id` or `mac`.
    pub struct NamedNodeBody {
        /// ID of the node.
        #[schema(example = 7)]
        id: Option<i64> = nullable(identifier),
        /// Alias of `cluster_id`, as responses name it.
        #[schema(value_type = Option<i64>)]
        cluster: FieldUpdate<i64> = update(identifier),
        #[serde(flatten)]
        #[schema(inline, value_type = NodeBody)]
        body: Option<NodeBody> = fields(NodeBody::read),
    }
    check: require_one_cluster;
}

fn require_one_cluster(update: &NamedNodeBody, fields: &mut Fields<'_, '_>) {
    let Some(body) = &update.body else { return };
    if body.cluster_id.is_present() && update.cluster.is_present() && body.cluster_id != update.cluster {
        let span = fields.node().span;
        let message = "`cluster_id` and `cluster` differ; specify only one of them";
        fields.problems().error(codes::CONFLICT, span, message);
    }
}
