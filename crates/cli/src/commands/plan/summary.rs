//! Text output of an offline plan: the tasks that run on each node and why. Equal reasons are grouped.

use std::collections::HashMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use stoker_api_types::plans::DifferenceView;
use stoker_planner::{Difference, ExplainedPlan, Instance, InstanceAction, PlanExtras, Reasons, Verdict};

use super::changes::write_differences;
use super::display::{Coverage, DetailLevel};
use crate::terminal;
use crate::text::{counted, wrap};

pub(super) const BOLD: Style = Style::new().bold();
const RUN: Style = AnsiColor::Green.on_default();
const SKIP: Style = AnsiColor::BrightBlack.on_default();

/// Maximum number of reason groups per task; further instances join a group with the same verdict.
const REASONS_MAX: usize = 20;

pub(super) fn text(
    explained: &ExplainedPlan,
    level: DetailLevel,
    extras: &PlanExtras,
    is_partial: bool,
) -> String {
    let ExplainedPlan { plan, reasons, excluded, .. } = explained;
    let mut out = String::new();
    let mut instances = plan.instances().peekable();
    while let Some(first) = instances.next().filter(|_| level != DetailLevel::Summary) {
        let mut task_instances = vec![first];
        while let Some(next) = instances.next_if(|next| next.task == first.task) {
            task_instances.push(next);
        }
        for group in group_by_reason(&task_instances, reasons, extras) {
            let action = group.nodes[0].verdict.action();
            if action == InstanceAction::Run || level == DetailLevel::All {
                write_instances(&mut out, action, first.task, &group.nodes, &group.reason);
                let change = group.change_idx.and_then(|change_idx| extras.changes.get(change_idx as usize));
                if let Some(change) = change {
                    let differences: Vec<DifferenceView> = change.differences.iter().map(view).collect();
                    write_differences(&mut out, &differences, change.n_differences);
                }
            }
        }
    }
    let n_run = n_run(explained);
    let n_skipped = plan.n_instances() - n_run;
    let n_nodes = plan.nodes.len() - 2;
    if !out.is_empty() {
        out.push('\n');
    }
    if n_run == 0 {
        let coverage = Coverage { n_nodes, is_partial, ..Coverage::default() };
        let _ = writeln!(out, "{BOLD}{}{BOLD:#}", coverage.no_changes());
    }
    let handlers = plan.instances().filter(|instance| instance.verdict == Verdict::IfTriggered);
    let if_triggered = if_triggered(handlers.count() as u64);
    let _ = write!(
        out,
        "{BOLD}Plan: {n_run} to run{if_triggered}{BOLD:#}, {n_skipped} to skip ({} on {})",
        counted(plan.tasks.iter().filter(|task| !task.nodes.is_empty()).count(), "task"),
        counted(n_nodes, "node"),
    );
    for excluded in excluded {
        let _ = write!(out, "\nnode {} is excluded: {}", excluded.uid, excluded.reason);
    }
    out
}

/// How many of the instances to run are handlers that may turn out not to be triggered.
pub(super) fn if_triggered(n_handlers: u64) -> String {
    if n_handlers == 0 { String::new() } else { format!(" ({n_handlers} of them only if triggered)") }
}

/// Number of task instances that run.
pub(super) fn n_run(explained: &ExplainedPlan) -> usize {
    explained.plan.instances().filter(|instance| instance.verdict.action() == InstanceAction::Run).count()
}

fn view(difference: &Difference) -> DifferenceView {
    DifferenceView { path: difference.path.clone(), old: difference.old.clone(), new: difference.new.clone() }
}

/// Instances of one task with the same reason and change of inputs.
struct ReasonGroup<'p> {
    reason: String,
    change_idx: Option<u32>,
    nodes: Vec<Instance<'p>>,
}

/// Groups the instances of one task, in order of first occurrence.
fn group_by_reason<'p>(
    task_instances: &[Instance<'p>],
    reasons: &Reasons,
    extras: &PlanExtras,
) -> Vec<ReasonGroup<'p>> {
    let mut group_idx_by_key: HashMap<(Option<u32>, Option<u32>), usize> = HashMap::new();
    let mut groups: Vec<ReasonGroup<'p>> = Vec::new();
    for instance in task_instances {
        let number = reasons.explanation_idx(instance.idx);
        let change_idx = extras.change_idx(instance.idx);
        let group_idx = *group_idx_by_key.entry((number, change_idx)).or_insert_with(|| {
            let same_verdict = groups.iter().position(|group| group.nodes[0].verdict == instance.verdict);
            if let Some(group_idx) = same_verdict.filter(|_| groups.len() >= REASONS_MAX) {
                groups[group_idx].change_idx = None;
                return group_idx;
            }
            let reason = reasons.of(instance.idx).map(ToString::to_string).unwrap_or_default();
            groups.push(ReasonGroup { reason, change_idx, nodes: Vec::new() });
            groups.len() - 1
        });
        groups[group_idx].nodes.push(*instance);
    }
    groups
}

fn write_instances(
    out: &mut String,
    action: InstanceAction,
    task: &str,
    nodes: &[Instance<'_>],
    reason: &str,
) {
    let nodes: Vec<&str> = nodes.iter().map(|instance| instance.node).collect();
    write_group(out, action.as_str(), task, &nodes, nodes.len(), reason);
}

/// Writes a line for the nodes of a task with the same action and reason, and a line for the reason. `nodes` are the first
/// of `n_nodes`.
pub(super) fn write_group(
    out: &mut String,
    action: &str,
    task: &str,
    nodes: &[&str],
    n_nodes: usize,
    reason: &str,
) {
    const SHOWN_MAX: usize = 6;
    let style = if action == InstanceAction::Run.as_str() { RUN } else { SKIP };
    let mut names: Vec<&str> = nodes.iter().take(SHOWN_MAX).copied().collect();
    let more = format!("{} more", n_nodes.saturating_sub(names.len()));
    if n_nodes > names.len() {
        names.push(&more);
    }
    let _ = writeln!(out, "{style}{action:<4}{style:#} {BOLD}{task}{BOLD:#} on {}", names.join(", "));
    let _ = writeln!(out, "{}", wrap(reason, terminal::width(), "       ".len()));
}
