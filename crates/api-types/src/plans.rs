//! Request and response types for plans.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{boolean, identifier, list_of, object, string_with_length};
use stoker_model::{GraphType, Json, JsonMap};
use utoipa::ToSchema;

use crate::drift::DriftView;
use crate::execution::SubgraphBody;
use crate::readers::read_graph_type;
use crate::request::request;

/// Changes of the inputs of a plan since it was created.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanChanges)]
pub struct ChangesView {
    /// Whether planning now would return the same plan.
    pub is_current: bool,
    /// Changed inputs.
    #[schema(example = json!(["the setting `debug` of all nodes", "node 5"]))]
    pub changes: Vec<String>,
}

/// Task instance of a plan: a task on one node.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlannedInstance)]
pub struct InstanceView {
    /// Name of the task.
    #[schema(example = "install")]
    pub task: String,
    /// UID of the node: `"7"`, `"master"`, or `"sync"` for a stage.
    #[schema(example = "7")]
    pub node: String,
    /// Task type. Null if the instance is skipped.
    #[serde(rename = "type")]
    #[schema(example = "shell")]
    pub task_type: Option<String>,
    /// Planned action: `run` or `skip`.
    #[schema(example = "run")]
    pub action: String,
    /// Reason code of the action.
    #[schema(example = "condition_holds")]
    pub verdict: String,
    /// Human-readable reason.
    #[schema(example = "the condition is true")]
    pub reason: String,
    /// Subexpressions of the condition that determined the result.
    pub decided_by: Vec<String>,
    /// Differences between the applied and the desired state that determined the result.
    pub differences: Vec<DifferenceView>,
    /// Parameters of the executor, with secrets masked. Only for instances that run, with `parameters=1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    pub parameters: Option<Json>,
    /// Latest result of a drift check. Absent if the instance was not checked since its last execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub drift: Option<DriftView>,
}

/// Difference between the applied and the desired state.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Difference)]
pub struct DifferenceView {
    /// Path in the state.
    #[schema(example = "public_ssl.hostname")]
    pub path: String,
    /// Applied value. Null if it did not exist.
    pub old: Option<String>,
    /// Desired value. Null if it does not exist.
    pub new: Option<String>,
}

/// Plan.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Plan)]
pub struct PlanView {
    /// ID of the plan.
    #[schema(example = 5)]
    pub id: i64,
    /// ID of the cluster.
    #[schema(example = 1)]
    pub cluster: i64,
    /// Graph type that was planned.
    #[schema(example = "default")]
    pub graph_type: String,
    /// ID of the plan that is applied before this one: of the previous graph of a sequence, or of the graph `deletion` on
    /// nodes that leave the cluster.
    pub parent_id: Option<i64>,
    /// IDs of the nodes that leave the cluster when the plan is applied.
    pub removals: Vec<i64>,
    /// Creation time.
    #[schema(example = "2026-01-31T07:00:00.123456")]
    pub created_at: String,
    /// User that created the plan.
    #[schema(example = "admin")]
    pub created_by: String,
    /// Options with which the plan was created.
    #[schema(value_type = Object)]
    pub request: Json,
    /// Number of task instances that run.
    pub n_run: i64,
    /// Number of task instances that are skipped.
    pub n_skip: i64,
}

/// Summary of a plan.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PlanSummary {
    #[serde(flatten)]
    pub plan: PlanView,
    /// Number of instances by reason code.
    #[schema(value_type = Object)]
    pub verdicts: BTreeMap<String, u64>,
    /// Tasks, sorted by name. Groups are omitted: they are never executed.
    pub tasks: Vec<TaskSummary>,
    /// Fault tolerance groups.
    pub fault_tolerance_groups: Vec<GroupView>,
    /// Estimated duration.
    pub estimate: EstimateView,
    /// Problems that do not prevent execution.
    pub warnings: Vec<WarningView>,
    /// Information about limits of the plan, which calls for no action.
    #[serde(default)]
    pub notes: Vec<WarningView>,
    /// Nodes that are excluded from the plan, by reason.
    pub excluded: Vec<ExcludedView>,
    /// Number of nodes in the plan, without the master.
    #[serde(default)]
    #[schema(example = 5)]
    pub n_nodes: u64,
    /// End of the last successful run of this graph type in the cluster. Null if there is none.
    #[serde(default)]
    #[schema(example = "2026-01-31T07:00:00.123456")]
    pub last_applied_at: Option<String>,
}

/// Instances of a task that run for the same reason and with the same change of their inputs.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanDifference)]
pub struct InputChangeView {
    /// Name of the task.
    #[schema(example = "install")]
    pub task: String,
    /// UIDs of the nodes, at most 20.
    #[schema(example = json!(["1", "2"]))]
    pub nodes: Vec<String>,
    /// Total number of nodes.
    #[schema(example = 2)]
    pub n_nodes: u64,
    /// Human-readable reason why the instances run.
    #[schema(example = "the condition `inputsChanged()` is true")]
    pub reason: String,
    /// Whether no earlier inputs are known, as on a first run.
    pub is_first: bool,
    /// Differences between the inputs of the last success and those of the plan, at most 50, with secrets masked. Empty if
    /// the inputs are equal or no earlier ones are known.
    pub differences: Vec<DifferenceView>,
    /// Total number of differences.
    #[schema(example = 1)]
    pub n_differences: u32,
}

/// Number of instances of a task, by planned action.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlannedTask)]
pub struct TaskSummary {
    /// Name of the task.
    #[schema(example = "install")]
    pub name: String,
    /// Number of instances that run.
    pub n_run: u64,
    /// Number of instances that are skipped.
    pub n_skip: u64,
}

/// Fault tolerance group: nodes of which a limited number may fail.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = FaultToleranceGroup)]
pub struct GroupView {
    /// Name of the group.
    pub name: String,
    /// Number of nodes in the group.
    pub n_nodes: u64,
    /// Maximum number of nodes that may fail before the run stops.
    pub tolerated: u64,
}

/// Estimated duration, based on task durations in earlier runs of the cluster.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanEstimate)]
pub struct EstimateView {
    /// Estimated makespan, in milliseconds.
    pub total_ms: u64,
    /// Critical path: the chain of dependent instances with the longest total duration.
    pub critical_path: Vec<CriticalStep>,
    /// Duration of the critical path, in milliseconds.
    pub critical_ms: u64,
    /// Number of instances with a measured duration.
    pub n_known: u64,
    /// Number of instances with a default duration because none was measured.
    pub n_unknown: u64,
}

/// Task instance on the critical path.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CriticalStep {
    /// Name of the task.
    pub task: String,
    /// UID of the node.
    pub node: String,
    /// Estimated duration, in milliseconds.
    pub ms: u64,
}

/// Probable mistake in the input of a plan.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanWarning)]
pub struct WarningView {
    /// Stable code of the warning.
    #[schema(example = "plan-unplaced-task")]
    pub code: String,
    /// Task that the warning is about.
    pub task: Option<String>,
    /// Field of the task.
    pub field: String,
    /// Affected nodes, at most 20.
    pub nodes: Vec<String>,
    /// Total number of affected nodes.
    pub n_nodes: u64,
    /// Human-readable message.
    pub message: String,
    /// Suggested fix.
    pub help: Option<String>,
    /// Layer that set the field: `release`, `cluster`, or `plugin NAME VERSION`.
    #[schema(example = "cluster")]
    pub layer: Option<String>,
    /// Name of the file from which the layer was uploaded, as the client sent it.
    #[schema(example = "tasks.yaml")]
    pub file: Option<String>,
    /// Line number in that file, starting at 1.
    pub line: Option<u32>,
}

/// Nodes that are excluded for the same reason.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ExcludedNodes)]
pub struct ExcludedView {
    /// Reason of the exclusion.
    #[schema(example = "the node is not ready for deployment")]
    pub why: String,
    /// Whether the nodes are offline. A run that leaves out offline nodes is partial.
    #[serde(default)]
    pub offline: bool,
    /// Excluded nodes, at most 20.
    pub nodes: Vec<String>,
    /// Total number of excluded nodes.
    pub n_nodes: u64,
}

request! {
    /// Options of a new plan. All fields are optional.
    pub struct NewPlanBody {
        /// Graph type to plan (default `default`).
        #[schema(
            nullable = false,
            example = "default",
            min_length = 1,
            max_length = 255,
            pattern = "^[a-zA-Z0-9_-]+$"
        )]
        #[schema(value_type = Option<String>)]
        graph_type: Option<GraphType> = optional(read_graph_type),
        /// Nodes to plan for; overrides the node filter of the graph. An empty list selects no nodes.
        #[schema(nullable = false, example = json!([1, 2]))]
        nodes: Option<Vec<i64>> = optional(list_of(identifier)),
        /// Tasks to include. Their conditions still apply.
        #[schema(nullable = false, example = json!(["install"]))]
        tasks: Option<Vec<String>> = optional(list_of(string_with_length(1..=255))),
        /// Subgraphs to include; the union is planned.
        #[schema(nullable = false)]
        subgraphs: Option<Vec<SubgraphBody>> = optional(list_of(object(SubgraphBody::read))),
        /// Ignore earlier successes: plan all tasks as for a first run.
        #[schema(nullable = false)]
        force: Option<bool> = optional(boolean),
        /// Report roles that fewer nodes have than their minimum as warnings instead of errors. Only plans of the graph
        /// type `default` check minima.
        #[schema(nullable = false)]
        ignore_limits: Option<bool> = optional(boolean),
        /// Compare the nodes with the applied state first, and plan the repair of what drifted. The request waits for the
        /// check.
        #[schema(nullable = false)]
        refresh: Option<bool> = optional(boolean),
    }
}

/// Differences from one plan to another. Equal changes on several nodes are merged.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanComparison)]
pub struct ComparisonView {
    /// Changed task instances.
    pub changes: Vec<ChangeView>,
    /// Dependencies that exist only in the other plan.
    pub edges_added: EdgesView,
    /// Dependencies that exist only in this plan.
    pub edges_removed: EdgesView,
    /// Fault tolerance groups that differ.
    pub groups: Vec<GroupChangeView>,
}

/// Change of task instances between two plans.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanChange)]
pub struct ChangeView {
    pub task: String,
    pub nodes: Vec<String>,
    /// `gone`, `new`, `action` or `details`.
    pub change: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub before: Option<StepView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub after: Option<StepView>,
    /// Details of the instances that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub differences: Option<Vec<DifferenceView>>,
}

/// Action of a plan for a task instance.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanStep)]
pub struct StepView {
    pub action: String,
    pub reason: String,
}

/// Dependencies that exist in only one of two plans.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanEdges)]
pub struct EdgesView {
    pub n_edges: u64,
    /// Some of them: the tasks in front and behind.
    #[schema(value_type = Vec<Vec<String>>)]
    pub samples: Vec<(String, String)>,
}

/// Fault tolerance group that differs between two plans.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanGroupChange)]
pub struct GroupChangeView {
    pub name: String,
    pub before: Option<GroupLimitView>,
    pub after: Option<GroupLimitView>,
}

/// Limit of a fault tolerance group.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PlanGroupLimit)]
pub struct GroupLimitView {
    pub fault_tolerance: u64,
    pub n_nodes: u64,
}

/// Plan in the format that Fuel sends to its orchestrator. Secrets in parameters are masked.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = SerializedTasks)]
#[serde(deny_unknown_fields)]
pub struct SerializedView {
    /// Always empty: parameters are part of the instances.
    #[schema(value_type = Object)]
    pub tasks_directory: JsonMap,
    /// Task instances by node UID; `null` for stages.
    #[schema(value_type = Object)]
    pub tasks_graph: JsonMap,
    /// Contains `fault_tolerance_groups`.
    #[schema(value_type = Object)]
    pub tasks_metadata: JsonMap,
}
