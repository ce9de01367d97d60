//! A node: a machine that tasks run on.

use crate::{ClusterId, JsonMap, Micros, NodeId, words};

words! {
    NodeStatus {
        Ready => "ready",
        Discover => "discover",
        Provisioning => "provisioning",
        Provisioned => "provisioned",
        Deploying => "deploying",
        Error => "error",
        Removing => "removing",
        Stopped => "stopped",
    }
}

words! {
    NodeErrorKind {
        Deploy => "deploy",
        Provision => "provision",
        Deletion => "deletion",
        Discover => "discover",
        StopDeployment => "stop_deployment",
    }
}

impl NodeStatus {
    /// Whether the machine has no deployed system: it is new, being installed, or just installed. Earlier applied
    /// states no longer describe it.
    pub const fn is_fresh(self) -> bool {
        matches!(self, Self::Discover | Self::Provisioning | Self::Provisioned | Self::Removing)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub id: NodeId,
    pub generation: i64,
    pub cluster_id: Option<ClusterId>,
    pub name: String,
    /// MAC address in lower case; globally unique.
    pub mac: String,
    pub ip: Option<String>,
    /// Host name, unique in the cluster of the node.
    pub hostname: String,
    pub status: NodeStatus,
    pub online: bool,
    pub roles: Vec<String>,
    pub pending_roles: Vec<String>,
    pub pending_addition: bool,
    pub pending_deletion: bool,
    pub error_type: Option<NodeErrorKind>,
    pub error_msg: Option<String>,
    pub progress: i64,
    pub group_id: Option<i64>,
    pub manufacturer: Option<String>,
    pub platform_name: Option<String>,
    pub os_platform: Option<String>,
    pub kernel_params: Option<String>,
    /// Label name to text or null.
    pub labels: JsonMap,
    /// Inventory as reported by the agent.
    pub meta: JsonMap,
    pub attributes: JsonMap,
    /// Facts of the last heartbeat.
    pub facts: JsonMap,
    /// Checksum of the last heartbeat, to detect an unchanged heartbeat.
    pub agent_checksum: Option<String>,
    pub last_seen_at: Option<Micros>,
    pub created_at: Micros,
    /// Size options of an instance of the module API, as requested: `flavorRef` and `volume`.
    pub instance_options: JsonMap,
}

impl Node {
    /// Adds the node to a cluster; it is deployed by the next run.
    pub fn join_cluster(&mut self, cluster_id: ClusterId) {
        self.cluster_id = Some(cluster_id);
        self.pending_addition = true;
        self.pending_deletion = false;
    }

    /// Removes the node from its cluster and resets it to the discovered state.
    pub fn leave_cluster(&mut self) {
        self.cluster_id = None;
        self.group_id = None;
        self.status = NodeStatus::Discover;
        self.roles.clear();
        self.pending_roles.clear();
        self.pending_addition = false;
        self.pending_deletion = false;
        self.error_type = None;
        self.error_msg = None;
        self.progress = 0;
        self.attributes.clear();
        self.instance_options.clear();
    }

    /// Gives the node the status with which a run ends. A ready node has the roles that were pending, and no error.
    pub fn settle(&mut self, status: NodeStatus) {
        self.status = status;
        if status == NodeStatus::Ready {
            self.roles.append(&mut self.pending_roles);
            self.roles.sort_unstable();
            self.roles.dedup();
            self.pending_addition = false;
            (self.error_type, self.error_msg) = (None, None);
        }
    }

    /// Resets the node to a newly assigned one with the same roles, which the next run deploys completely.
    pub fn redeploy(&mut self) {
        self.pending_roles.append(&mut self.roles);
        self.pending_roles.sort_unstable();
        self.pending_roles.dedup();
        self.pending_addition = true;
        self.status = NodeStatus::Discover;
        self.progress = 0;
        self.error_type = None;
        self.error_msg = None;
    }

    /// Removes the node from its cluster: immediately if it was never deployed, otherwise with the next run.
    pub fn request_removal(&mut self) {
        if self.status == NodeStatus::Discover { self.leave_cluster() } else { self.pending_deletion = true }
    }
}

/// A discovered node before it has an id.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    pub mac: String,
    pub ip: Option<String>,
    /// Name; `None` means that it is derived from the end of the MAC address.
    pub name: Option<String>,
    /// Host name; `None` means `node-<id>`.
    pub hostname: Option<String>,
    pub manufacturer: Option<String>,
    pub platform_name: Option<String>,
    pub os_platform: Option<String>,
    pub labels: JsonMap,
    pub meta: JsonMap,
    pub facts: JsonMap,
}
