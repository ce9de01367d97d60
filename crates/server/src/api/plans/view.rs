//! Response types of plans.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use stoker_model::{Json, PlanRecord};
use stoker_planner::{ExplainedPlan, InstanceAction, Plan, PlannedTask, Verdict, estimate};
use stoker_diagnostics::{Diagnostic, Severity};
use utoipa::ToSchema;

use stoker_services::clock;

/// Maximum number of nodes to list by name; `n_nodes` contains the total.
const NODES_MAX: usize = 20;

/// Plan.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Plan)]
pub(super) struct PlanView {
    /// ID of the plan.
    #[schema(example = 5)]
    id: i64,
    /// ID of the cluster.
    #[schema(example = 1)]
    cluster: i64,
    /// Graph type that was planned.
    #[schema(example = "default")]
    graph_type: String,
    /// ID of the plan that this one follows.
    parent_id: Option<i64>,
    /// Creation time.
    #[schema(example = "2026-01-31T07:00:00.123456")]
    created_at: String,
    /// User that created the plan.
    #[schema(example = "admin")]
    created_by: String,
    /// Options with which the plan was created.
    #[schema(value_type = Object)]
    request: Json,
    /// Number of task instances that run.
    n_run: i64,
    /// Number of task instances that are skipped.
    n_skip: i64,
}

impl From<PlanRecord> for PlanView {
    fn from(record: PlanRecord) -> Self {
        Self {
            id: record.id.0,
            cluster: record.cluster_id.0,
            graph_type: record.graph_type.as_str().to_owned(),
            parent_id: record.parent_id.map(|id| id.0),
            created_at: clock::plain(record.created_at),
            created_by: record.created_by,
            request: record.request,
            n_run: record.n_run,
            n_skip: record.n_skip,
        }
    }
}

/// Summary of a plan.
#[derive(Serialize, ToSchema)]
pub(super) struct PlanSummary {
    #[serde(flatten)]
    plan: PlanView,
    /// Number of instances by reason code.
    #[schema(value_type = Object)]
    verdicts: BTreeMap<String, u64>,
    /// Tasks, sorted by name. Groups are omitted: they are never executed.
    tasks: Vec<TaskSummary>,
    /// Fault tolerance groups.
    fault_tolerance_groups: Vec<GroupView>,
    /// Estimated duration.
    estimate: EstimateView,
    /// Problems that do not prevent execution.
    warnings: Vec<WarningView>,
    /// Nodes that are excluded from the plan, by reason.
    excluded: Vec<ExcludedView>,
}

/// Number of instances of a task, by planned action.
#[derive(Serialize, ToSchema)]
#[schema(as = PlannedTask)]
struct TaskSummary {
    /// Name of the task.
    #[schema(example = "install")]
    name: String,
    /// Number of instances that run.
    n_run: u64,
    /// Number of instances that are skipped.
    n_skip: u64,
}

/// Fault tolerance group: nodes of which a limited number may fail.
#[derive(Serialize, ToSchema)]
#[schema(as = FaultToleranceGroup)]
struct GroupView {
    /// Name of the group.
    name: String,
    /// Number of nodes in the group.
    n_nodes: u64,
    /// Maximum number of nodes that may fail before the run stops.
    tolerated: u64,
}

/// Estimated duration, based on task durations in earlier runs of the cluster.
#[derive(Serialize, ToSchema)]
#[schema(as = PlanEstimate)]
struct EstimateView {
    /// Estimated makespan, in milliseconds.
    total_ms: u64,
    /// Critical path: the chain of dependent instances with the longest total duration.
    critical_path: Vec<CriticalStep>,
    /// Duration of the critical path, in milliseconds.
    critical_ms: u64,
    /// Number of instances with a measured duration.
    n_known: u64,
    /// Number of instances with a default duration because none was measured.
    n_unknown: u64,
}

/// Task instance on the critical path.
#[derive(Serialize, ToSchema)]
struct CriticalStep {
    /// Name of the task.
    task: String,
    /// UID of the node.
    node: String,
    /// Estimated duration, in milliseconds.
    ms: u64,
}

/// Probable mistake in the input of a plan.
#[derive(Serialize, ToSchema)]
#[schema(as = PlanWarning)]
struct WarningView {
    /// Stable code of the warning.
    #[schema(example = "plan-unplaced-task")]
    code: Cow<'static, str>,
    /// Task that the warning is about.
    task: Option<String>,
    /// Field of the task.
    field: String,
    /// Affected nodes, at most 20.
    nodes: Vec<String>,
    /// Total number of affected nodes.
    n_nodes: u64,
    /// Human-readable message.
    message: String,
    /// How to fix the problem.
    help: Option<String>,
    /// Layer that set the field: `release`, `cluster`, or `plugin NAME VERSION`.
    #[schema(example = "cluster")]
    layer: Option<String>,
    /// Name of the file from which the layer was uploaded, as the client sent it.
    #[schema(example = "tasks.yaml")]
    file: Option<String>,
    /// Line number in that file, starting at 1.
    line: Option<u32>,
}

/// Nodes that are excluded for the same reason.
#[derive(Serialize, ToSchema)]
#[schema(as = ExcludedNodes)]
struct ExcludedView {
    /// Reason of the exclusion.
    #[schema(example = "the node is not ready for deployment")]
    why: String,
    /// Excluded nodes, at most 20.
    nodes: Vec<String>,
    /// Total number of excluded nodes.
    n_nodes: u64,
}

impl PlanSummary {
    pub(super) fn new(
        record: PlanRecord,
        explained: &ExplainedPlan,
        durations: &HashMap<String, u64>,
    ) -> Self {
        let plan = &explained.plan;
        let mut verdicts = BTreeMap::new();
        for instance in plan.instances() {
            *verdicts.entry(word(instance.verdict)).or_default() += 1;
        }
        let is_warning = |problem: &&Diagnostic| problem.severity == Severity::Warning;
        Self {
            plan: record.into(),
            verdicts,
            tasks: plan.tasks.iter().map(|task| TaskSummary::new(plan, task)).collect(),
            fault_tolerance_groups: plan.groups.iter().map(GroupView::from).collect(),
            estimate: EstimateView::new(plan, durations),
            warnings: explained.problems.iter().filter(is_warning).map(WarningView::from).collect(),
            excluded: excluded(explained),
        }
    }
}

impl EstimateView {
    fn new(plan: &Plan, durations: &HashMap<String, u64>) -> Self {
        let estimate = estimate(plan, &|task, _| durations.get(task).copied());
        let step = |(idx, ms): &(u32, u64)| {
            let instance = plan.instance(*idx)?;
            Some(CriticalStep { task: instance.task.to_owned(), node: instance.node.to_owned(), ms: *ms })
        };
        Self {
            total_ms: estimate.total_ms,
            critical_ms: estimate.critical_ms(),
            critical_path: estimate.critical_path.iter().filter_map(step).collect(),
            n_known: estimate.n_measured as u64,
            n_unknown: estimate.n_estimated as u64,
        }
    }
}

impl TaskSummary {
    fn new(plan: &Plan, task: &PlannedTask) -> Self {
        let running = plan.instances_of(task).filter(|instance| instance.verdict.action() == InstanceAction::Run);
        let n_run = running.count() as u64;
        Self { name: task.name.clone(), n_run, n_skip: task.nodes.len() as u64 - n_run }
    }
}

impl From<&stoker_planner::FaultToleranceGroup> for GroupView {
    fn from(group: &stoker_planner::FaultToleranceGroup) -> Self {
        Self { name: group.name.clone(), n_nodes: group.nodes.len() as u64, tolerated: group.max_failed }
    }
}

impl From<&Diagnostic> for WarningView {
    fn from(warning: &Diagnostic) -> Self {
        let location = &warning.location;
        let provenance = location.provenance.clone().unwrap_or_default();
        Self {
            code: warning.code.clone(),
            task: location.task.clone(),
            field: location.path.clone(),
            nodes: location.nodes.iter().take(NODES_MAX).cloned().collect(),
            n_nodes: location.nodes.len() as u64,
            message: warning.message.clone(),
            help: warning.help.clone(),
            layer: provenance.layer,
            file: provenance.file,
            line: provenance.line,
        }
    }
}

fn excluded(explained: &ExplainedPlan) -> Vec<ExcludedView> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for excluded in &explained.excluded {
        by_reason.entry(&excluded.reason).or_default().push(&excluded.uid);
    }
    let views = by_reason.into_iter().map(|(why, uids)| ExcludedView {
        why: why.to_owned(),
        n_nodes: uids.len() as u64,
        nodes: uids.into_iter().take(NODES_MAX).map(str::to_owned).collect(),
    });
    views.collect()
}

/// Returns the reason code as stored plans write it, such as `condition_holds`.
pub(super) fn word(verdict: Verdict) -> String {
    serde_json::to_value(verdict).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}
