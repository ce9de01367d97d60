//! Shrinks a failing history, and describes it.

use std::fmt::Write as _;

use super::generator::generate;
use super::history::History;
use super::replay::replay;
use super::world::PlanSabotage;

/// The history of a seed that violates a check, without the operations, nodes and tasks that the violation does not need;
/// `None` if the seed does not violate it.
pub fn describe_shrunk(seed: u64, check: &str, sabotage: PlanSabotage) -> Option<String> {
    let violates = |history: &History| {
        replay(history, sabotage, false).violations.iter().any(|violation| violation.check == check)
    };
    let history = Some(generate(seed)).filter(violates)?;
    let history = shrink(history, violates);
    let report = replay(&history, sabotage, true);
    let mut text = format!("seed {seed}, shrunk:\nsettings:\n");
    for ((section, name), value) in &history.site.settings {
        _ = writeln!(text, "  {section}.{name} = {value}");
    }
    text.push_str("nodes:\n");
    for (uid, node) in &history.site.nodes {
        _ = writeln!(text, "  {uid}: {:?}", node.all_roles());
    }
    for (graph_type, graph) in &history.site.graphs {
        let mode = if graph.keep { " (on_definition_change: keep)" } else { "" };
        _ = writeln!(text, "graph {graph_type}{mode}:");
        for (name, fields) in graph.fields() {
            _ = writeln!(text, "  {name}: {fields}");
        }
    }
    text.push_str("history:\n");
    for line in &report.log {
        _ = writeln!(text, "  {line}");
    }
    for violation in report.violations {
        _ = writeln!(text, "{violation}");
    }
    Some(text)
}

/// Drops parts while the history still fails.
fn shrink(mut history: History, fails: impl Fn(&History) -> bool) -> History {
    loop {
        let candidates = smaller(&history);
        match candidates.into_iter().find(|candidate| fails(candidate)) {
            Some(candidate) => history = candidate,
            None => return history,
        }
    }
}

/// Histories with one part less, larger parts first.
fn smaller(history: &History) -> Vec<History> {
    let without = |change: &dyn Fn(&mut History)| {
        let mut smaller = history.clone();
        change(&mut smaller);
        smaller
    };
    let mut candidates = Vec::new();
    for idx in (0..history.operations.len()).rev() {
        candidates.push(without(&|history| _ = history.operations.remove(idx)));
    }
    for (graph_type, graph) in &history.site.graphs {
        for (name, task) in &graph.tasks {
            let task_of = |history: &mut History, change: &dyn Fn(&mut super::site::SiteGraph)| {
                if let Some(graph) = history.site.graphs.get_mut(graph_type) {
                    change(graph);
                }
            };
            candidates.push(without(&|history| task_of(history, &|graph| _ = graph.tasks.remove(name))));
            if !task.parameters.is_empty() {
                let clear = |graph: &mut super::site::SiteGraph| {
                    if let Some(task) = graph.tasks.get_mut(name) {
                        task.parameters.clear();
                    }
                };
                candidates.push(without(&|history| task_of(history, &clear)));
            }
        }
    }
    for (graph_type, graph) in &history.site.graphs {
        for name in graph.groups.keys() {
            let remove = |history: &mut History| {
                if let Some(graph) = history.site.graphs.get_mut(graph_type) {
                    graph.groups.remove(name);
                }
            };
            candidates.push(without(&remove));
        }
    }
    for uid in history.site.nodes.keys() {
        candidates.push(without(&|history| _ = history.site.nodes.remove(uid)));
    }
    candidates
}
