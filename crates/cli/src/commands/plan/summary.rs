//! A plan for people: what runs, where and why, with equal reasons told once.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::terminal;
use crate::text::{counted, wrapped};
use anstyle::{AnsiColor, Style};
use stoker_planner::{Action, ExplainedPlan, Instance, Reasons};

pub(super) const BOLD: Style = Style::new().bold();
const RUN: Style = AnsiColor::Green.on_default();
const SKIP: Style = AnsiColor::BrightBlack.on_default();

/// With more reasons than these for one task, the first speaks for all others that are judged alike.
const REASONS_MAX: usize = 20;

pub(super) fn text(explained: &ExplainedPlan, with_skipped: bool) -> String {
    let ExplainedPlan { plan, reasons, excluded, .. } = explained;
    let mut out = String::new();
    let mut instances = plan.instances().peekable();
    while let Some(first) = instances.next() {
        let mut of_task = vec![first];
        while let Some(next) = instances.next_if(|next| next.task == first.task) {
            of_task.push(next);
        }
        for (reason, nodes) in grouped(&of_task, reasons) {
            let action = nodes[0].verdict.action();
            if action == Action::Run || with_skipped {
                line(&mut out, action, first.task, &nodes, &reason);
            }
        }
    }
    let n_run = plan.instances().filter(|instance| instance.verdict.action() == Action::Run).count();
    let n_skipped = plan.n_instances() - n_run;
    let n_nodes = plan.nodes.len() - 2;
    let blank_line = if out.is_empty() { "" } else { "\n" };
    let _ = write!(
        out,
        "{blank_line}{BOLD}{n_run} to run{BOLD:#}, {n_skipped} to skip: {} on {}",
        counted(plan.tasks.iter().filter(|task| !task.nodes.is_empty()).count(), "task"),
        counted(n_nodes, "node"),
    );
    for excluded in excluded {
        let _ = write!(out, "\nnode {} takes no part: {}", excluded.uid, excluded.why);
    }
    out
}

/// Instances of one task by their reasons, in the order in which these first occur.
fn grouped<'p>(of_task: &[Instance<'p>], reasons: &Reasons) -> Vec<(String, Vec<Instance<'p>>)> {
    let mut places: HashMap<u32, usize> = HashMap::new();
    let mut groups: Vec<(String, Vec<Instance<'p>>)> = Vec::new();
    for instance in of_task {
        let number = reasons.number(instance.idx).unwrap_or(u32::MAX);
        let place = *places.entry(number).or_insert_with(|| {
            let alike = groups.iter().position(|(_, nodes)| nodes[0].verdict == instance.verdict);
            alike.filter(|_| groups.len() >= REASONS_MAX).unwrap_or_else(|| {
                let reason = reasons.of(instance.idx).map(ToString::to_string).unwrap_or_default();
                groups.push((reason, Vec::new()));
                groups.len() - 1
            })
        });
        groups[place].1.push(*instance);
    }
    groups
}

fn line(out: &mut String, action: Action, task: &str, nodes: &[Instance<'_>], reason: &str) {
    let nodes: Vec<&str> = nodes.iter().map(|instance| instance.node).collect();
    told(out, action.as_str(), task, &nodes, reason);
}

/// One line for a task and the nodes on which the same happens for the same reason, and one for the reason.
pub(super) fn told(out: &mut String, action: &str, task: &str, nodes: &[&str], reason: &str) {
    const SHOWN_MAX: usize = 6;
    let style = if action == Action::Run.as_str() { RUN } else { SKIP };
    let mut shown: Vec<&str> = nodes.iter().take(SHOWN_MAX).copied().collect();
    let more = format!("{} more", nodes.len().saturating_sub(SHOWN_MAX));
    if nodes.len() > SHOWN_MAX {
        shown.push(&more);
    }
    let _ = writeln!(out, "{style}{action:<4}{style:#} {BOLD}{task}{BOLD:#} on {}", shown.join(", "));
    let _ = writeln!(out, "{}", wrapped(reason, terminal::width(), "       ".len()));
}
