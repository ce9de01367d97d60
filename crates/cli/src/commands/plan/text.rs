//! Plans of a server for people.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde_json::Value as Json;

use super::summary::{BOLD, told};
use crate::commands::run::node_key;
use crate::remote::{cell, plain};
use crate::terminal;
use crate::text::{counted, wrapped};

/// What runs, where and why: task by task, equal reasons told once.
pub(super) fn by_task(instances: &[Json]) -> String {
    let mut groups: Vec<(&Json, Vec<String>)> = Vec::new();
    for instance in instances {
        let is_same =
            |first: &Json| ["task", "action", "reason"].iter().all(|key| first[*key] == instance[*key]);
        // Instances of one task come together, so the group is one of the last.
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
        told(&mut out, &cell(&instance["action"]), &cell(&instance["task"]), &nodes, &reason(instance));
    }
    out
}

/// The same node by node, by their ids; `order` has the tasks in the order in which they come up.
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
            _ = writeln!(out, "{}", wrapped(&reason(instance), terminal::width(), "       ".len()));
        }
    }
    out
}

fn reason(instance: &Json) -> String {
    plain(&crate::text::one_line(instance["reason"].as_str().unwrap_or_default()))
}

/// `1 duration is guessed`, `2 durations are guessed`.
fn guessed_durations(n_unknown: u64) -> String {
    let is = if n_unknown == 1 { "is" } else { "are" };
    format!("{} {is} guessed", counted(n_unknown as usize, "duration"))
}

/// One line: how much runs, and how long that may take; then whatever is to be minded.
pub(super) fn summary(plan: &Json) -> String {
    let number = |key: &str| plan[key].as_i64().unwrap_or_default();
    let mut what = format!(
        ", {} to skip: plan {} of cluster {}, graph `{}`",
        number("n_skip"),
        number("id"),
        number("cluster"),
        cell(&plan["graph_type"]),
    );
    let estimate = &plan["estimate"];
    if let (Some(ms), true) = (estimate["total_ms"].as_f64(), number("n_run") > 0) {
        let guessed = estimate["n_unknown"].as_u64().filter(|n_unknown| *n_unknown > 0);
        let guessed = guessed.map(|n_unknown| format!(", {}", guessed_durations(n_unknown)));
        let took = crate::commands::run::duration(ms / 1000.0);
        _ = write!(what, "; about {took}{}", guessed.unwrap_or_default());
    }
    let count = format!("{} to run", number("n_run"));
    let line = wrapped(&format!("{count}{what}"), terminal::width(), 0);
    // Colours take no room, so they come last.
    let mut out = line.replacen(&count, &format!("{BOLD}{count}{BOLD:#}"), 1);
    for excluded in plan["excluded"].as_array().into_iter().flatten() {
        _ = write!(out, "\nnode {} takes no part: {}", cell(&excluded["nodes"]), cell(&excluded["why"]));
    }
    out
}

/// A line for each change between two plans.
pub(super) fn comparison(compared: &Json) -> String {
    let mut out = String::new();
    for change in compared["changes"].as_array().into_iter().flatten() {
        let (sign, said) = match change["change"].as_str().unwrap_or_default() {
            "gone" => ("-", format!("is gone; it was: {}", step(&change["before"]))),
            "new" => ("+", format!("is new: {}", step(&change["after"]))),
            "action" => ("~", format!("was: {}; is: {}", step(&change["before"]), step(&change["after"]))),
            _ => ("~", differences(&change["differences"])),
        };
        _ = writeln!(out, "{sign} {BOLD}{}{BOLD:#} on {}", cell(&change["task"]), cell(&change["nodes"]));
        _ = writeln!(out, "{}", wrapped(&said, terminal::width(), "       ".len()));
    }
    for (key, sign) in [("edges_added", '+'), ("edges_removed", '-')] {
        let n_edges = compared[key]["n_edges"].as_u64().unwrap_or_default();
        if n_edges > 0 {
            _ = writeln!(out, "{sign} {n_edges} orders of two tasks");
        }
    }
    for group in compared["groups"].as_array().into_iter().flatten() {
        _ = writeln!(out, "~ {BOLD}group {}{BOLD:#} may lose another number of nodes", cell(&group["name"]));
    }
    if out.is_empty() { "the plans are the same".to_owned() } else { out }
}

fn step(step: &Json) -> String {
    format!("{} ({})", cell(&step["action"]), reason(step))
}

fn differences(differences: &Json) -> String {
    let all = differences.as_array().into_iter().flatten();
    let word = |value: &Json| if value.is_null() { "nothing".to_owned() } else { cell(value) };
    let told: Vec<String> = all
        .map(|each| {
            format!("{} was {} and is {}", cell(&each["path"]), word(&each["old"]), word(&each["new"]))
        })
        .collect();
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nodes_are_told_by_id_and_tasks_as_they_come_up() {
        let instance = |task: &str, node: &str| json!({"task": task, "node": node, "action": "run"});
        // A plan has them by name.
        let instances =
            [instance("a", "10"), instance("a", "9"), instance("b", "9"), instance("b", "master")];
        let told = by_node(&instances, &["b".to_owned(), "a".to_owned()]);
        let told = anstream::adapter::strip_str(&told).to_string();
        let words: Vec<&str> = told.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(words, ["node 9", "run  b", "run  a", "node 10", "run  a", "node master", "run  b"]);
    }

    #[test]
    fn one_is_not_many() {
        let plan = |n_unknown| {
            json!({"n_run": 1, "n_skip": 0, "id": 1, "cluster": 1, "graph_type": "default",
                   "estimate": {"total_ms": 5, "n_unknown": n_unknown}})
        };
        let told = |n_unknown| anstream::adapter::strip_str(&summary(&plan(n_unknown))).to_string();
        assert!(told(1).replace('\n', " ").ends_with("1 duration is guessed"), "{}", told(1));
        assert!(told(2).replace('\n', " ").ends_with("2 durations are guessed"), "{}", told(2));
    }
}
