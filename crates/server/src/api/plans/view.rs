//! How plans are shown.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use stoker_model::{Json, PlanRecord};
use stoker_planner::{Action, ExplainedPlan, Plan, PlannedTask, Problem, Severity, Verdict, estimate};
use utoipa::ToSchema;

use stoker_services::clock;

/// So many nodes are named where there are more.
const NODES_MAX: usize = 20;

/// A plan in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Plan)]
pub(super) struct PlanView {
    #[schema(example = 5)]
    id: i64,
    #[schema(example = 1)]
    cluster: i64,
    #[schema(example = "default")]
    graph_type: String,
    /// The plan after which it was made.
    parent_id: Option<i64>,
    #[schema(example = "2026-01-31T07:00:00.123456")]
    created_at: String,
    #[schema(example = "admin")]
    created_by: String,
    /// What was asked for.
    #[schema(value_type = Object)]
    request: Json,
    /// How many task instances run, and how many are skipped.
    n_run: i64,
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

/// A plan in short.
#[derive(Serialize, ToSchema)]
pub(super) struct PlanSummary {
    #[serde(flatten)]
    plan: PlanView,
    /// How many instances there are for each reason.
    #[schema(value_type = Object)]
    verdicts: BTreeMap<String, u64>,
    /// By name. Groups are not among them: they are never run.
    tasks: Vec<TaskSummary>,
    /// How many nodes of a group may fail.
    fault_tolerance_groups: Vec<GroupView>,
    estimate: EstimateView,
    warnings: Vec<WarningView>,
    /// Nodes that take no part.
    excluded: Vec<ExcludedView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = PlannedTask)]
struct TaskSummary {
    #[schema(example = "install")]
    name: String,
    n_run: u64,
    n_skip: u64,
}

#[derive(Serialize, ToSchema)]
#[schema(as = FaultToleranceGroup)]
struct GroupView {
    name: String,
    n_nodes: u64,
    /// How many of them may fail.
    tolerated: u64,
}

/// How long it may take, by what tasks took in earlier runs of the cluster.
#[derive(Serialize, ToSchema)]
#[schema(as = PlanEstimate)]
struct EstimateView {
    total_ms: u64,
    /// The chain that takes longest.
    critical_path: Vec<CriticalStep>,
    critical_ms: u64,
    /// Instances of which a duration is known, and those of which it is guessed.
    n_known: u64,
    n_unknown: u64,
}

#[derive(Serialize, ToSchema)]
struct CriticalStep {
    task: String,
    node: String,
    ms: u64,
}

/// Something that is probably not what was meant.
#[derive(Serialize, ToSchema)]
#[schema(as = PlanWarning)]
struct WarningView {
    /// A stable name of the kind of warning.
    #[schema(example = "plan-unplaced-task")]
    code: &'static str,
    task: Option<String>,
    /// Where in the task.
    field: String,
    /// Some of the nodes on which it was found.
    nodes: Vec<String>,
    n_nodes: u64,
    message: String,
    help: Option<String>,
    /// The layer that set the field: `release`, `cluster`, or `plugin NAME VERSION`.
    #[schema(example = "cluster")]
    layer: Option<String>,
    /// The file that the layer was uploaded from, as its sender calls it.
    #[schema(example = "tasks.yaml")]
    file: Option<String>,
    /// The line in that file, from 1.
    line: Option<u32>,
}

/// Nodes that take no part for one reason.
#[derive(Serialize, ToSchema)]
#[schema(as = ExcludedNodes)]
struct ExcludedView {
    #[schema(example = "the node is not ready for deployment")]
    why: String,
    /// Some of them.
    nodes: Vec<String>,
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
        let is_warning = |problem: &&Problem| problem.severity == Severity::Warning;
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
            n_known: estimate.n_known as u64,
            n_unknown: estimate.n_unknown as u64,
        }
    }
}

impl TaskSummary {
    fn new(plan: &Plan, task: &PlannedTask) -> Self {
        let running = plan.instances_of(task).filter(|instance| instance.verdict.action() == Action::Run);
        let n_run = running.count() as u64;
        Self { name: task.name.clone(), n_run, n_skip: task.nodes.len() as u64 - n_run }
    }
}

impl From<&stoker_planner::FaultToleranceGroup> for GroupView {
    fn from(group: &stoker_planner::FaultToleranceGroup) -> Self {
        Self { name: group.name.clone(), n_nodes: group.nodes.len() as u64, tolerated: group.tolerated }
    }
}

impl From<&Problem> for WarningView {
    fn from(problem: &Problem) -> Self {
        let origin = problem.origin.as_ref();
        Self {
            code: problem.code,
            task: problem.task.clone(),
            field: problem.field.clone(),
            nodes: problem.nodes.iter().take(NODES_MAX).cloned().collect(),
            n_nodes: problem.nodes.len() as u64,
            message: problem.message.clone(),
            help: problem.help.clone(),
            layer: origin.map(|origin| origin.layer.clone()),
            file: origin.and_then(|origin| origin.file.clone()),
            line: origin.and_then(|origin| origin.line),
        }
    }
}

fn excluded(explained: &ExplainedPlan) -> Vec<ExcludedView> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for excluded in &explained.excluded {
        by_reason.entry(&excluded.why).or_default().push(&excluded.uid);
    }
    let shown = by_reason.into_iter().map(|(why, uids)| ExcludedView {
        why: why.to_owned(),
        n_nodes: uids.len() as u64,
        nodes: uids.into_iter().take(NODES_MAX).map(str::to_owned).collect(),
    });
    shown.collect()
}

/// `condition_holds`, as stored plans write it.
pub(super) fn word(verdict: Verdict) -> String {
    serde_json::to_value(verdict).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}
