//! A plan for people: what runs, where and why, with equal reasons told once.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use stoker_planner::{Action, Explainer, Instance, Plan, Report};

const BOLD: Style = Style::new().bold();
const RUN: Style = AnsiColor::Green.on_default();
const SKIP: Style = AnsiColor::BrightBlack.on_default();

/// Beyond this, one node speaks for all that are judged alike.
const EXPLAINED_MAX: usize = 200;

pub(super) fn text(plan: &Plan, explainer: &Explainer<'_>, report: &Report, with_skipped: bool) -> String {
    let mut out = String::new();
    let mut instances = plan.instances().peekable();
    while let Some(first) = instances.next() {
        let mut of_task = vec![first];
        while let Some(next) = instances.next_if(|next| next.task == first.task) {
            of_task.push(next);
        }
        for (reason, nodes) in grouped(&of_task, explainer) {
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
        "{blank_line}{BOLD}{n_run} to run{BOLD:#}, {n_skipped} to skip: {} tasks on {n_nodes} nodes",
        plan.tasks.iter().filter(|task| !task.nodes.is_empty()).count(),
    );
    for excluded in &report.excluded {
        let _ = write!(out, "\nnode {} takes no part: {}", excluded.uid, excluded.why);
    }
    out
}

/// Instances of one task by their reasons, in the order in which these first occur.
fn grouped<'p>(of_task: &[Instance<'p>], explainer: &Explainer<'_>) -> Vec<(String, Vec<Instance<'p>>)> {
    let mut groups: Vec<(String, Vec<Instance<'p>>)> = Vec::new();
    for (instance_idx, instance) in of_task.iter().enumerate() {
        let alike = groups.iter().position(|(_, nodes)| nodes[0].verdict == instance.verdict);
        if let Some(alike) = alike.filter(|_| instance_idx >= EXPLAINED_MAX) {
            groups[alike].1.push(*instance);
            continue;
        }
        let reason = explainer.explain(instance).to_string();
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, nodes)) => nodes.push(*instance),
            None => groups.push((reason, vec![*instance])),
        }
    }
    groups
}

fn line(out: &mut String, action: Action, task: &str, nodes: &[Instance<'_>], reason: &str) {
    const SHOWN_MAX: usize = 6;
    let style = if action == Action::Run { RUN } else { SKIP };
    let mut shown: Vec<&str> = nodes.iter().take(SHOWN_MAX).map(|instance| instance.node).collect();
    let more = format!("{} more", nodes.len().saturating_sub(SHOWN_MAX));
    if nodes.len() > SHOWN_MAX {
        shown.push(&more);
    }
    let _ =
        writeln!(out, "{style}{:<4}{style:#} {BOLD}{task}{BOLD:#} on {}", action.as_str(), shown.join(", "));
    let _ = writeln!(out, "       {reason}");
}
