//! Text output of an offline plan: the tasks that run on each node and why. Equal reasons are grouped.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::terminal;
use crate::text::{counted, wrap};
use anstyle::{AnsiColor, Style};
use stoker_planner::{ExplainedPlan, Instance, InstanceAction, Reasons};

pub(super) const BOLD: Style = Style::new().bold();
const RUN: Style = AnsiColor::Green.on_default();
const SKIP: Style = AnsiColor::BrightBlack.on_default();

/// Maximum number of reason groups per task; further instances join a group with the same verdict.
const REASONS_MAX: usize = 20;

pub(super) fn text(explained: &ExplainedPlan, with_skipped: bool) -> String {
    let ExplainedPlan { plan, reasons, excluded, .. } = explained;
    let mut out = String::new();
    let mut instances = plan.instances().peekable();
    while let Some(first) = instances.next() {
        let mut task_instances = vec![first];
        while let Some(next) = instances.next_if(|next| next.task == first.task) {
            task_instances.push(next);
        }
        for (reason, nodes) in group_by_reason(&task_instances, reasons) {
            let action = nodes[0].verdict.action();
            if action == InstanceAction::Run || with_skipped {
                write_instances(&mut out, action, first.task, &nodes, &reason);
            }
        }
    }
    let n_run = plan.instances().filter(|instance| instance.verdict.action() == InstanceAction::Run).count();
    let n_skipped = plan.n_instances() - n_run;
    let n_nodes = plan.nodes.len() - 2;
    let blank_line = if out.is_empty() { "" } else { "\n" };
    let _ = write!(
        out,
        "{blank_line}{BOLD}Plan: {n_run} to run{BOLD:#}, {n_skipped} to skip ({} on {})",
        counted(plan.tasks.iter().filter(|task| !task.nodes.is_empty()).count(), "task"),
        counted(n_nodes, "node"),
    );
    for excluded in excluded {
        let _ = write!(out, "\nnode {} is excluded: {}", excluded.uid, excluded.reason);
    }
    out
}

/// Groups the instances of one task by reason, in order of first occurrence.
fn group_by_reason<'p>(
    task_instances: &[Instance<'p>],
    reasons: &Reasons,
) -> Vec<(String, Vec<Instance<'p>>)> {
    let mut group_idx_by_reason: HashMap<u32, usize> = HashMap::new();
    let mut groups: Vec<(String, Vec<Instance<'p>>)> = Vec::new();
    for instance in task_instances {
        let number = reasons.explanation_idx(instance.idx).unwrap_or(u32::MAX);
        let group_idx = *group_idx_by_reason.entry(number).or_insert_with(|| {
            let same_verdict = groups.iter().position(|(_, nodes)| nodes[0].verdict == instance.verdict);
            same_verdict.filter(|_| groups.len() >= REASONS_MAX).unwrap_or_else(|| {
                let reason = reasons.of(instance.idx).map(ToString::to_string).unwrap_or_default();
                groups.push((reason, Vec::new()));
                groups.len() - 1
            })
        });
        groups[group_idx].1.push(*instance);
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
    write_group(out, action.as_str(), task, &nodes, reason);
}

/// Writes a line for the nodes of a task with the same action and reason, and a line for the reason.
pub(super) fn write_group(out: &mut String, action: &str, task: &str, nodes: &[&str], reason: &str) {
    const SHOWN_MAX: usize = 6;
    let style = if action == InstanceAction::Run.as_str() { RUN } else { SKIP };
    let mut names: Vec<&str> = nodes.iter().take(SHOWN_MAX).copied().collect();
    let more = format!("{} more", nodes.len().saturating_sub(SHOWN_MAX));
    if nodes.len() > SHOWN_MAX {
        names.push(&more);
    }
    let _ = writeln!(out, "{style}{action:<4}{style:#} {BOLD}{task}{BOLD:#} on {}", names.join(", "));
    let _ = writeln!(out, "{}", wrap(reason, terminal::width(), "       ".len()));
}
