//! A run and its history. The API of the predecessor calls it a transaction.

use crate::{ClusterId, GraphType, Json, JsonMap, Micros, PlanId, RunId, words};

words! {
    RunStatus {
        Pending => "pending",
        Running => "running",
        Ready => "ready",
        Error => "error",
    }
}

words! {
    HistoryStatus {
        Pending => "pending",
        Running => "running",
        Ready => "ready",
        Error => "error",
        Skipped => "skipped",
    }
}

words! {
    /// What kind of work a run is.
    RunName {
        Super => "super",
        Deploy => "deploy",
        Deployment => "deployment",
        Provision => "provision",
        StopDeployment => "stop_deployment",
        ResetEnvironment => "reset_environment",
        ResetNodes => "reset_nodes",
        RemoveKeys => "remove_keys",
        RemoveIronicBootstrap => "remove_ironic_bootstrap",
        Update => "update",
        SpawnVms => "spawn_vms",
        NodeDeletion => "node_deletion",
        ClusterDeletion => "cluster_deletion",
        RemoveImages => "remove_images",
        CheckBeforeDeployment => "check_before_deployment",
        CheckNetworks => "check_networks",
        VerifyNetworks => "verify_networks",
        CheckDhcp => "check_dhcp",
        VerifyNetworkConnectivity => "verify_network_connectivity",
        MulticastVerification => "multicast_verification",
        CheckRepoAvailability => "check_repo_availability",
        CheckRepoAvailabilityWithSetup => "check_repo_availability_with_setup",
        DryRunDeployment => "dry_run_deployment",
        Dump => "dump",
        CapacityLog => "capacity_log",
        CreateStatsUser => "create_stats_user",
        RemoveStatsUser => "remove_stats_user",
        UpdateDnsmasq => "update_dnsmasq",
        /// Modules applied to a node, or removed from it.
        Modules => "modules",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    pub generation: i64,
    /// Random, for people who compare logs.
    pub uuid: String,
    /// The run of which this executes one graph.
    pub parent_id: Option<RunId>,
    pub cluster_id: Option<ClusterId>,
    pub name: RunName,
    pub status: RunStatus,
    /// 0 to 100.
    pub progress: i64,
    pub message: Option<String>,
    pub result: Json,
    pub graph_type: Option<GraphType>,
    pub dry_run: bool,
    pub started_at: Option<Micros>,
    pub ended_at: Option<Micros>,
    /// Superseded runs are hidden from the list of tasks, not from that of transactions.
    pub is_hidden: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    pub uuid: String,
    pub parent_id: Option<RunId>,
    pub cluster_id: Option<ClusterId>,
    pub name: RunName,
    pub status: RunStatus,
    pub progress: i64,
    pub message: Option<String>,
    pub result: Json,
    pub graph_type: Option<GraphType>,
    pub dry_run: bool,
    pub started_at: Option<Micros>,
    pub ended_at: Option<Micros>,
}

/// What became of one task on one node.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRecord {
    pub run_id: RunId,
    pub task_name: String,
    /// `"7"`, `"master"`, or `"-"` for a task placed nowhere.
    pub node_id: String,
    pub status: HistoryStatus,
    pub started_at: Option<Micros>,
    pub ended_at: Option<Micros>,
    /// The task as it was run, without its id.
    pub task: JsonMap,
    /// What the executor reported beside.
    pub custom: JsonMap,
    pub summary: JsonMap,
}

/// What an engine has to know of a run beside its events.
#[derive(Clone, Debug, PartialEq)]
pub struct RunWork {
    pub run_id: RunId,
    /// Made when its turn comes.
    pub plan_id: Option<PlanId>,
    /// How it is to be carried out.
    pub options: Json,
    /// Which server carries it out.
    pub owner: Option<String>,
    /// How often it has changed hands.
    pub lease_generation: i64,
    /// Until when nobody else may take it over.
    pub lease_until: Option<Micros>,
}

/// Something that happened in a run. It never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEvent {
    /// From 1, without gaps.
    pub seq: i64,
    pub at: Micros,
    pub kind: String,
    /// The number of the instance it is about.
    pub instance: Option<i64>,
    pub body: Json,
}

/// A piece of what an attempt printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPiece {
    pub instance: i64,
    pub attempt: i64,
    /// `out` or `err`.
    pub stream: String,
    /// The number of its first byte.
    pub start: i64,
    pub text: String,
}
