//! Response types of plans.

use std::collections::{BTreeMap, HashMap};

use stoker_api_types::plans::{
    CriticalStep, EstimateView, ExcludedView, GroupView, PlanSummary, PlanView, TaskSummary, WarningView,
};
use stoker_diagnostics::{Diagnostic, Severity};
use stoker_model::{InstanceIdx, Micros, PlanRecord};
use stoker_planner::{
    ExplainedPlan, InstanceAction, NODE_OFFLINE, Plan, PlanExtras, PlannedTask, Verdict, estimate,
};

use stoker_services::clock;
use stoker_services::planning::removals;
use stoker_state::{MASTER, SYNC};

/// Maximum number of nodes to list by name; `n_nodes` contains the total.
pub(super) const NODES_MAX: usize = 20;

pub(super) fn render_plan(record: PlanRecord) -> PlanView {
    PlanView {
        id: record.id.0,
        cluster: record.cluster_id.0,
        graph_type: record.graph_type.as_str().to_owned(),
        parent_id: record.parent_id.map(|id| id.0),
        removals: removals(&record).into_iter().map(|id| id.0).collect(),
        created_at: clock::plain(record.created_at),
        created_by: record.created_by,
        request: record.request,
        n_run: record.n_run,
        n_skip: record.n_skip,
    }
}

pub(super) fn render_plan_summary(
    record: PlanRecord,
    explained: &ExplainedPlan,
    extras: &PlanExtras,
    durations: &HashMap<String, u64>,
    last_applied_at: Option<Micros>,
) -> PlanSummary {
    let plan = &explained.plan;
    let mut verdicts = BTreeMap::new();
    for instance in plan.instances() {
        *verdicts.entry(word(instance.verdict)).or_default() += 1;
    }
    let warnings = explained.problems.iter().chain(&extras.warnings);
    let of_severity = |severity| {
        let listed = warnings.clone().filter(move |problem| problem.severity == severity);
        listed.map(render_warning).collect()
    };
    PlanSummary {
        plan: render_plan(record),
        verdicts,
        tasks: plan.tasks.iter().map(|task| render_task_summary(plan, task)).collect(),
        fault_tolerance_groups: plan.groups.iter().map(render_group).collect(),
        estimate: render_estimate(plan, durations),
        warnings: of_severity(Severity::Warning),
        notes: of_severity(Severity::Note),
        excluded: excluded(explained),
        n_nodes: plan.nodes.iter().filter(|uid| *uid != MASTER && *uid != SYNC).count() as u64,
        last_applied_at: last_applied_at.map(clock::plain),
    }
}

fn render_estimate(plan: &Plan, durations: &HashMap<String, u64>) -> EstimateView {
    let estimate = estimate(plan, &|task, _| durations.get(task).copied());
    let step = |(idx, ms): &(InstanceIdx, u64)| {
        let instance = plan.instance(*idx)?;
        Some(CriticalStep { task: instance.task.to_owned(), node: instance.node.to_owned(), ms: *ms })
    };
    EstimateView {
        total_ms: estimate.total_ms,
        critical_ms: estimate.critical_ms(),
        critical_path: estimate.critical_path.iter().filter_map(step).collect(),
        n_known: estimate.n_measured as u64,
        n_unknown: estimate.n_estimated as u64,
    }
}

fn render_task_summary(plan: &Plan, task: &PlannedTask) -> TaskSummary {
    let running = plan.instances_of(task).filter(|instance| instance.verdict.action() == InstanceAction::Run);
    let n_run = running.count() as u64;
    TaskSummary { name: task.name.clone(), n_run, n_skip: task.nodes.len() as u64 - n_run }
}

fn render_group(group: &stoker_planner::FaultToleranceGroup) -> GroupView {
    GroupView { name: group.name.clone(), n_nodes: group.nodes.len() as u64, tolerated: group.max_failed }
}

fn render_warning(warning: &Diagnostic) -> WarningView {
    let location = &warning.location;
    let provenance = location.provenance.clone().unwrap_or_default();
    WarningView {
        code: warning.code.clone().into_owned(),
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

fn excluded(explained: &ExplainedPlan) -> Vec<ExcludedView> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for excluded in &explained.excluded {
        by_reason.entry(&excluded.reason).or_default().push(&excluded.uid);
    }
    let views = by_reason.into_iter().map(|(why, uids)| ExcludedView {
        why: why.to_owned(),
        offline: why == NODE_OFFLINE,
        n_nodes: uids.len() as u64,
        nodes: uids.into_iter().take(NODES_MAX).map(str::to_owned).collect(),
    });
    views.collect()
}

/// Returns the reason code in the notation of stored plans, such as `condition_holds`.
pub(super) fn word(verdict: Verdict) -> String {
    serde_json::to_value(verdict).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}
