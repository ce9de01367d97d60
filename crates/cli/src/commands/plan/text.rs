//! Text output of plans of a server.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde_json::Value as Json;

use super::summary::{BOLD, write_group};
use crate::commands::run::node_key;
use crate::remote::{cell, sanitize};
use crate::terminal;
use crate::text::{counted, wrap};

/// Lists instances by task; equal actions and reasons are grouped.
pub(super) fn by_task(instances: &[Json]) -> String {
    let mut groups: Vec<(&Json, Vec<String>)> = Vec::new();
    for instance in instances {
        let is_same =
            |first: &Json| ["task", "action", "reason"].iter().all(|key| first[*key] == instance[*key]);
        // Instances of one task are adjacent, so only the last groups can match.
        let first_of_task = groups.iter().rposition(|(first, _)| first["task"] != instance["task"]);
        let start = first_of_task.map_or(0, |at| at + 1);
        match groups[start..].iter_mut().find(|(first, _)| is_same(first)) {
            Some((_, nodes)) => nodes.push(cell(&instance["node"])),
            None => groups.push((instance, vec![cell(&instance["node"])])),
        }
    }
    let mut out = String::new();
    for (instance, nodes) in &groups {
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        write_group(
            &mut out,
            &cell(&instance["action"]),
            &cell(&instance["task"]),
            &nodes,
            &reason(instance),
        );
    }
    out
}

/// Lists instances by node, sorted by ID; `order` has the tasks in execution order.
pub(super) fn by_node(instances: &[Json], order: &[String]) -> String {
    let ranks: HashMap<&str, usize> =
        order.iter().enumerate().map(|(rank, task)| (task.as_str(), rank)).collect();
    let mut nodes: BTreeMap<(u64, String), Vec<&Json>> = BTreeMap::new();
    for instance in instances {
        nodes.entry(node_key(&cell(&instance["node"]))).or_default().push(instance);
    }
    let mut out = String::new();
    for ((_, node), mut instances) in nodes {
        instances.sort_by_key(|instance| {
            let rank = instance["task"].as_str().and_then(|task| ranks.get(task));
            rank.copied().unwrap_or(usize::MAX)
        });
        _ = writeln!(out, "{BOLD}node {node}{BOLD:#}");
        for instance in instances {
            let (action, task) = (cell(&instance["action"]), cell(&instance["task"]));
            _ = writeln!(out, "  {action:<4} {task}");
            _ = writeln!(out, "{}", wrap(&reason(instance), terminal::width(), "       ".len()));
        }
    }
    out
}

fn reason(instance: &Json) -> String {
    sanitize(&crate::text::collapse_whitespace(instance["reason"].as_str().unwrap_or_default()))
}

/// `1 task duration is unknown`, `2 task durations are unknown`.
fn unknown_durations(n_unknown: u64) -> String {
    let verb = if n_unknown == 1 { "is" } else { "are" };
    format!("{} {verb} unknown", counted(n_unknown as usize, "task duration"))
}

/// Formats the number of tasks to run and skip and the estimated duration, followed by excluded nodes.
pub(super) fn summary(plan: &Json) -> String {
    let number = |key: &str| plan[key].as_i64().unwrap_or_default();
    let mut rest = format!(
        ", {} to skip (cluster {}, graph `{}`)",
        number("n_skip"),
        number("cluster"),
        cell(&plan["graph_type"]),
    );
    let estimate = &plan["estimate"];
    if let (Some(ms), true) = (estimate["total_ms"].as_f64(), number("n_run") > 0) {
        let unknown = estimate["n_unknown"].as_u64().filter(|n_unknown| *n_unknown > 0);
        let unknown = unknown.map(|n_unknown| format!(", {}", unknown_durations(n_unknown)));
        let duration = crate::commands::run::duration(ms / 1000.0);
        _ = write!(rest, "; estimated {duration}{}", unknown.unwrap_or_default());
    }
    let count = format!("Plan {}: {} to run", number("id"), number("n_run"));
    let line = wrap(&format!("{count}{rest}"), terminal::width(), 0);
    // Add the style after wrapping: escape sequences take no width.
    let mut out = line.replacen(&count, &format!("{BOLD}{count}{BOLD:#}"), 1);
    for excluded in plan["excluded"].as_array().into_iter().flatten() {
        _ = write!(out, "\nnode {} is excluded: {}", cell(&excluded["nodes"]), cell(&excluded["why"]));
    }
    out
}

/// Formats the differences between two plans, one per line.
pub(super) fn comparison(difference: &Json) -> String {
    let mut out = String::new();
    for change in difference["changes"].as_array().into_iter().flatten() {
        let (sign, description) = match change["change"].as_str().unwrap_or_default() {
            "gone" => ("-", format!("removed; was: {}", step(&change["before"]))),
            "new" => ("+", format!("added: {}", step(&change["after"]))),
            "action" => ("~", format!("{} → {}", step(&change["before"]), step(&change["after"]))),
            _ => ("~", differences(&change["differences"])),
        };
        _ = writeln!(out, "{sign} {BOLD}{}{BOLD:#} on {}", cell(&change["task"]), cell(&change["nodes"]));
        _ = writeln!(out, "{}", wrap(&description, terminal::width(), "       ".len()));
    }
    for (key, sign) in [("edges_added", '+'), ("edges_removed", '-')] {
        let n_edges = difference[key]["n_edges"].as_u64().unwrap_or_default();
        if n_edges > 0 {
            _ = writeln!(out, "{sign} {n_edges} dependency edges");
        }
    }
    for group in difference["groups"].as_array().into_iter().flatten() {
        _ = writeln!(out, "~ {BOLD}group {}{BOLD:#}: fault tolerance changed", cell(&group["name"]));
    }
    if out.is_empty() { "no differences".to_owned() } else { out }
}

fn step(step: &Json) -> String {
    format!("{} ({})", cell(&step["action"]), reason(step))
}

fn differences(differences: &Json) -> String {
    let entries = differences.as_array().into_iter().flatten();
    let display = |value: &Json| if value.is_null() { "(none)".to_owned() } else { cell(value) };
    let items: Vec<String> = entries
        .map(|item| format!("{}: {} → {}", cell(&item["path"]), display(&item["old"]), display(&item["new"])))
        .collect();
    items.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn by_node_sorts_nodes_by_id_and_tasks_by_execution_order() {
        let instance = |task: &str, node: &str| json!({"task": task, "node": node, "action": "run"});
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
        let plan = |n_unknown| {
            json!({"n_run": 1, "n_skip": 0, "id": 1, "cluster": 1, "graph_type": "default",
                   "estimate": {"total_ms": 5, "n_unknown": n_unknown}})
        };
        let output = |n_unknown| anstream::adapter::strip_str(&summary(&plan(n_unknown))).to_string();
        assert!(output(1).replace('\n', " ").ends_with("1 task duration is unknown"), "{}", output(1));
        assert!(output(2).replace('\n', " ").ends_with("2 task durations are unknown"), "{}", output(2));
    }
}
