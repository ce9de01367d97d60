//! Runs and their history. The Fuel-compatible API calls a run a transaction.

use crate::{ClusterId, GraphType, Json, JsonMap, Micros, PlanId, RunId, TaskReport, words};

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
    /// The type of operation of a run.
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
        /// Modules applied to a node or removed from it.
        Modules => "modules",
    }
}

words! {
    /// How a run ended.
    RunEnd {
        Succeeded => "succeeded",
        /// Succeeded on the nodes that took part; others were offline and left out.
        Partial => "partial",
        Failed => "failed",
        /// A user stopped it.
        Stopped => "stopped",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    pub generation: i64,
    /// Random ID that identifies the run in logs.
    pub uuid: String,
    /// The parent run, if this is a child run that executes one graph.
    pub parent_id: Option<RunId>,
    pub cluster_id: Option<ClusterId>,
    pub name: RunName,
    pub status: RunStatus,
    /// Progress in percent.
    pub progress: i64,
    pub message: Option<String>,
    pub result: Json,
    pub graph_type: Option<GraphType>,
    pub dry_run: bool,
    pub started_at: Option<Micros>,
    pub ended_at: Option<Micros>,
    /// Superseded runs are hidden from the list of tasks, but not from that of transactions.
    pub is_hidden: bool,
}

/// Keys of the result of a run.
const STOPPED: &str = "stopped";
const OUTCOME: &str = "outcome";

impl Run {
    /// How the run ended; `None` while it is active. A partial run has the status `error`: clients that know no
    /// other outcome must not take it for a success.
    pub fn end(&self) -> Option<RunEnd> {
        match self.status {
            RunStatus::Pending | RunStatus::Running => None,
            RunStatus::Ready => Some(RunEnd::Succeeded),
            RunStatus::Error if self.was_stopped() => Some(RunEnd::Stopped),
            RunStatus::Error if self.is_partial() => Some(RunEnd::Partial),
            RunStatus::Error => Some(RunEnd::Failed),
        }
    }

    /// Whether a user stopped the run, even if it completed nevertheless.
    pub fn was_stopped(&self) -> bool {
        self.result.get(STOPPED) == Some(&Json::Bool(true))
    }

    pub fn mark_stopped(&mut self) {
        self.set_result(STOPPED, Json::Bool(true));
    }

    fn is_partial(&self) -> bool {
        self.result.get(OUTCOME).and_then(Json::as_str) == Some(RunEnd::Partial.as_str())
    }

    /// Marks a run that succeeded without some of its nodes.
    pub fn mark_partial(&mut self) {
        self.status = RunStatus::Error;
        self.set_result(OUTCOME, Json::from(RunEnd::Partial.as_str()));
    }

    fn set_result(&mut self, key: &str, value: Json) {
        if let Json::Object(result) = &mut self.result {
            result.insert(key.to_owned(), value);
        }
    }
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

impl NewRun {
    /// Returns a run without a cluster, a result or times.
    pub fn new(uuid: String, name: RunName, status: RunStatus) -> Self {
        Self {
            uuid,
            parent_id: None,
            cluster_id: None,
            name,
            status,
            progress: 0,
            message: None,
            result: Json::Object(JsonMap::new()),
            graph_type: None,
            dry_run: false,
            started_at: None,
            ended_at: None,
        }
    }
}

/// The result of one task on one node.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRecord {
    pub run_id: RunId,
    pub task_name: String,
    /// `"7"`, `"master"`, or `"-"` for a task without a node.
    pub node_id: String,
    pub status: HistoryStatus,
    pub started_at: Option<Micros>,
    pub ended_at: Option<Micros>,
    /// The task as executed, without its id.
    pub task: JsonMap,
    /// Additional data reported by the executor.
    pub custom: JsonMap,
    pub report: TaskReport,
}

/// Execution data of a run, without its events.
#[derive(Clone, Debug, PartialEq)]
pub struct RunExecution {
    pub run_id: RunId,
    /// Plan of the run; `None` until it is created, when the run starts.
    pub plan_id: Option<PlanId>,
    /// Run options.
    pub options: Json,
    /// The server that holds the lease.
    pub owner: Option<String>,
    /// Incremented on every takeover; used as a fencing token against former owners.
    pub lease_generation: i64,
    /// Expiry of the lease; until then no other server may take over the run.
    pub lease_until: Option<Micros>,
}

/// An event of a run. Immutable.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEvent {
    /// Sequence number, from 1 without gaps.
    pub seq: i64,
    pub at: Micros,
    pub kind: String,
    /// Index of the task instance it is about.
    pub instance: Option<i64>,
    pub body: Json,
}

/// A chunk of the output of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputChunk {
    pub instance: i64,
    pub attempt: i64,
    /// Stream: `out` or `err`.
    pub stream: String,
    /// Byte offset of the chunk.
    pub start: i64,
    pub text: String,
}
