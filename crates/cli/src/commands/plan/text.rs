//! Text output of plans stored on a server.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde_json::json;
use stoker_api_types::plans::{
    ComparisonView, DifferenceView, InputChangeView, InstanceView, PlanSummary, PlanView, StepView,
};

use super::changes::write_change;
use super::display::Coverage;
use super::summary::{BOLD, if_triggered, write_group};
use crate::commands::run::{node_key, unix_time};
use crate::remote::{display, sanitize};
use crate::terminal;
use crate::text::{counted, wrap};

/// Lists instances of one task; equal actions and reasons are grouped.
fn by_reason(instances: &[InstanceView]) -> String {
    let mut groups: Vec<(&InstanceView, Vec<String>)> = Vec::new();
    for instance in instances {
        let is_same =
            |first: &InstanceView| (&first.action, &first.reason) == (&instance.action, &instance.reason);
        match groups.iter_mut().find(|(first, _)| is_same(first)) {
            Some((_, nodes)) => nodes.push(sanitize(&instance.node)),
            None => groups.push((instance, vec![sanitize(&instance.node)])),
        }
    }
    let mut out = String::new();
    for (instance, nodes) in &groups {
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let (action, task) = (sanitize(&instance.action), sanitize(&instance.task));
        write_group(&mut out, &action, &task, &nodes, nodes.len(), &reason(&instance.reason));
    }
    out
}

/// Lists instances by node, sorted by ID; `order` has the tasks in execution order.
pub(super) fn by_node(instances: &[InstanceView], order: &[String]) -> String {
    let ranks: HashMap<&str, usize> =
        order.iter().enumerate().map(|(rank, task)| (task.as_str(), rank)).collect();
    let mut nodes: BTreeMap<(u64, String), Vec<&InstanceView>> = BTreeMap::new();
    for instance in instances {
        nodes.entry(node_key(&sanitize(&instance.node))).or_default().push(instance);
    }
    let mut out = String::new();
    for ((_, node), mut instances) in nodes {
        instances.sort_by_key(|instance| ranks.get(&*instance.task).copied().unwrap_or(usize::MAX));
        _ = writeln!(out, "{BOLD}node {node}{BOLD:#}");
        for instance in instances {
            let (action, task) = (sanitize(&instance.action), sanitize(&instance.task));
            _ = writeln!(out, "  {action:<4} {task}");
            _ = writeln!(out, "{}", wrap(&reason(&instance.reason), terminal::width(), "       ".len()));
        }
    }
    out
}

fn reason(reason: &str) -> String {
    sanitize(&crate::text::collapse_whitespace(reason))
}

/// Returns `1 task duration is unknown`, `2 task durations are unknown` and so on.
fn unknown_durations(n_unknown: u64) -> String {
    let verb = if n_unknown == 1 { "is" } else { "are" };
    format!("{} {verb} unknown", counted(n_unknown as usize, "task duration"))
}

/// Lists what changes, and with `skipped` instances everything else, by task.
pub(super) fn changes(changes: &[InputChangeView], skipped: &[InstanceView]) -> String {
    let mut by_task: BTreeMap<&str, String> = BTreeMap::new();
    for change in changes {
        write_change(by_task.entry(&change.task).or_default(), change);
    }
    for instances in skipped.chunk_by(|left, right| left.task == right.task) {
        by_task.entry(&instances[0].task).or_default().push_str(&by_reason(instances));
    }
    by_task.into_values().collect()
}

/// Returns the nodes that the plan is about.
pub(super) fn coverage(summary: &PlanSummary, now: f64) -> Coverage {
    let offline = || summary.excluded.iter().filter(|excluded| excluded.offline);
    let request = &summary.plan.request;
    let is_given = |key: &str| request.get(key).is_some_and(|value| !value.is_null() && *value != json!([]));
    let last = summary.last_applied_at.as_deref().and_then(unix_time);
    Coverage {
        n_nodes: summary.n_nodes as usize,
        offline: offline().flat_map(|excluded| excluded.nodes.iter().map(|uid| sanitize(uid))).collect(),
        n_offline: offline().map(|excluded| excluded.n_nodes as usize).sum(),
        is_partial: is_given("tasks") || is_given("subgraphs"),
        last_applied: last.map(|last| now - last),
    }
}

/// Reports whether applying the plan changes anything.
pub(super) fn has_changes(plan: &PlanView) -> bool {
    plan.n_run > 0 || !plan.removals.is_empty()
}

/// Formats the number of tasks to run and skip and the estimated duration, followed by excluded nodes. If nothing runs,
/// says for which nodes.
pub(super) fn summary(summary: &PlanSummary, now: f64) -> String {
    let PlanSummary { plan, estimate, verdicts, .. } = summary;
    let graph_type = sanitize(&plan.graph_type);
    let mut rest = format!(", {} to skip (cluster {}, graph `{graph_type}`)", plan.n_skip, plan.cluster);
    if plan.n_run > 0 {
        let n_unknown = estimate.n_unknown;
        let unknown = (n_unknown > 0).then(|| format!(", {}", unknown_durations(n_unknown)));
        let duration = crate::commands::run::duration(estimate.total_ms as f64 / 1000.0);
        _ = write!(rest, "; estimated {duration}{}", unknown.unwrap_or_default());
    }
    let if_triggered = if_triggered(verdicts.get("if_triggered").copied().unwrap_or_default());
    let count = format!("Plan {}: {} to run{if_triggered}", plan.id, plan.n_run);
    let line = wrap(&format!("{count}{rest}"), terminal::width(), 0);
    // Add the style after wrapping: escape sequences take no width.
    let mut out = line.replacen(&count, &format!("{BOLD}{count}{BOLD:#}"), 1);
    let has_changes = has_changes(plan);
    if !has_changes {
        let no_changes = wrap(&coverage(summary, now).no_changes(), terminal::width(), 0);
        out = format!("{BOLD}{no_changes}{BOLD:#}\n{out}");
    }
    if !plan.removals.is_empty() {
        let nodes: Vec<String> = plan.removals.iter().map(ToString::to_string).collect();
        let (noun, verb) = if nodes.len() == 1 { ("node", "leaves") } else { ("nodes", "leave") };
        _ = write!(out, "\n{noun} {} {verb} the cluster", nodes.join(", "));
        if let Some(parent) = plan.parent_id {
            _ = write!(out, " after the graph `deletion`; `stoker plan show {parent}` shows its plan");
        }
    }
    for excluded in summary.excluded.iter().filter(|excluded| has_changes || !excluded.offline) {
        let nodes = sanitize(&excluded.nodes.join(", "));
        let (noun, verb) = if excluded.n_nodes == 1 { ("node", "is") } else { ("nodes", "are") };
        let more = match excluded.n_nodes.saturating_sub(excluded.nodes.len() as u64) {
            0 => String::new(),
            n_more => format!(" and {n_more} more"),
        };
        _ = write!(out, "\n{noun} {nodes}{more} {verb} excluded: {}", sanitize(&excluded.why));
    }
    out
}

/// Formats the differences between two plans, one per line.
pub(super) fn comparison(comparison: &ComparisonView) -> String {
    let mut out = String::new();
    for change in &comparison.changes {
        let (before, after) = (step(change.before.as_ref()), step(change.after.as_ref()));
        let (sign, description) = match change.change.as_str() {
            "gone" => ("-", format!("removed; was: {before}")),
            "new" => ("+", format!("added: {after}")),
            "action" => ("~", format!("{before} → {after}")),
            _ => ("~", differences(change.differences.as_deref().unwrap_or_default())),
        };
        let nodes = sanitize(&change.nodes.join(", "));
        _ = writeln!(out, "{sign} {BOLD}{}{BOLD:#} on {nodes}", sanitize(&change.task));
        _ = writeln!(out, "{}", wrap(&description, terminal::width(), "       ".len()));
    }
    for (edges, sign) in [(&comparison.edges_added, '+'), (&comparison.edges_removed, '-')] {
        if edges.n_edges > 0 {
            _ = writeln!(out, "{sign} {} dependency edges", edges.n_edges);
        }
    }
    for group in &comparison.groups {
        _ = writeln!(out, "~ {BOLD}group {}{BOLD:#}: fault tolerance changed", sanitize(&group.name));
    }
    if out.is_empty() { "no differences".to_owned() } else { out }
}

fn step(step: Option<&StepView>) -> String {
    step.map(|step| format!("{} ({})", sanitize(&step.action), reason(&step.reason))).unwrap_or_default()
}

fn differences(differences: &[DifferenceView]) -> String {
    let display = |value: &Option<String>| value.as_deref().map_or_else(|| "(none)".to_owned(), display);
    let items: Vec<String> = differences
        .iter()
        .map(|item| format!("{}: {} → {}", sanitize(&item.path), display(&item.old), display(&item.new)))
        .collect();
    items.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_node_sorts_nodes_by_id_and_tasks_by_execution_order() {
        let instance = |task: &str, node: &str| InstanceView {
            task: task.to_owned(),
            node: node.to_owned(),
            task_type: None,
            action: "run".to_owned(),
            verdict: String::new(),
            reason: String::new(),
            decided_by: Vec::new(),
            differences: Vec::new(),
            parameters: None,
            drift: None,
        };
        // Instances of a plan are ordered by name.
        let instances =
            [instance("a", "10"), instance("a", "9"), instance("b", "9"), instance("b", "master")];
        let output = by_node(&instances, &["b".to_owned(), "a".to_owned()]);
        let output = anstream::adapter::strip_str(&output).to_string();
        let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, ["node 9", "run  b", "run  a", "node 10", "run  a", "node master", "run  b"]);
    }

    #[test]
    fn unknown_durations_are_pluralized() {
        let plan = |n_unknown: u64| -> PlanSummary {
            let plan = json!({
                "id": 1, "cluster": 1, "graph_type": "default", "parent_id": null, "removals": [], "created_at": "", "created_by": "",
                "request": {}, "n_run": 1, "n_skip": 0, "verdicts": {}, "tasks": [], "fault_tolerance_groups": [],
                "estimate": {"total_ms": 5, "critical_path": [], "critical_ms": 5, "n_known": 1, "n_unknown": n_unknown},
                "warnings": [], "excluded": [],
            });
            serde_json::from_value(plan).unwrap()
        };
        let output = |n_unknown| anstream::adapter::strip_str(&summary(&plan(n_unknown), 0.0)).to_string();
        assert!(output(1).replace('\n', " ").ends_with("1 task duration is unknown"), "{}", output(1));
        assert!(output(2).replace('\n', " ").ends_with("2 task durations are unknown"), "{}", output(2));
    }
}
