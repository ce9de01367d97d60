//! Partial runs: selected tasks, or subgraphs between given tasks.

use std::collections::HashSet;

use stoker_diagnostics::Diagnostic;
use stoker_graph::Csr;
use stoker_model::{InstanceIdx, NodeIdx};

use crate::input::{PlanScope, Subgraph};
use crate::names::Names;
use crate::nodes::Nodes;
use crate::order_builder::Layout;
use crate::plan::{InstanceAction, Plan, Verdict};
use crate::report::{PlanningReport, codes};

/// For each task, whether the request selects it. Unknown names are reported.
pub(crate) fn selected_tasks(
    request: &PlanScope,
    names: &Names<'_>,
    report: &mut PlanningReport,
) -> Vec<bool> {
    let Some(requested) = &request.tasks else { return vec![true; names.index_of.len()] };
    let mut is_selected = vec![false; names.index_of.len()];
    for name in requested {
        match names.index_of.get(name.as_str()) {
            Some(task_idx) => is_selected[task_idx.index()] = true,
            None => report.push(unknown(name, names)),
        }
    }
    is_selected
}

fn unknown(name: &str, names: &Names<'_>) -> Diagnostic {
    let message = format!("selected task `{name}` is not in this graph");
    Diagnostic::warning(codes::UNKNOWN_TASK, message).help_if(names.suggestion(name))
}

/// Skips instances outside all subgraphs. They stay part of the order.
pub(crate) fn cut(
    subgraphs: &[Subgraph],
    order: &Csr,
    layout: &Layout,
    names: &Names<'_>,
    nodes: &Nodes,
    verdicts: &mut [Verdict],
    report: &mut PlanningReport,
) {
    if subgraphs.is_empty() {
        return;
    }
    let backward = order.reversed();
    let mut is_inside = vec![false; order.n_vertices()];
    for subgraph in subgraphs {
        let mut resolve = |references: &[String], boundary: &str| {
            let matching: Vec<u32> =
                references.iter().flat_map(|text| instances(text, layout, names, nodes, report)).collect();
            if matching.is_empty() {
                let quoted: Vec<String> = references.iter().map(|text| format!("`{text}`")).collect();
                let message =
                    format!("the subgraph {boundary} {} matches no task instance", quoted.join(", "));
                // An error, not a warning: a misspelled reference would otherwise run nothing and succeed.
                report.push(Diagnostic::error(codes::UNKNOWN_TASK, message));
            }
            matching
        };
        let after = (!subgraph.start.is_empty()).then(|| order.reachable(resolve(&subgraph.start, "start")));
        let before = (!subgraph.end.is_empty()).then(|| backward.reachable(resolve(&subgraph.end, "end")));
        for (vertex, is_inside) in is_inside.iter_mut().enumerate() {
            let is_in = |reached: &Option<Vec<bool>>| reached.as_ref().is_none_or(|reached| reached[vertex]);
            *is_inside |= is_in(&after) && is_in(&before);
        }
    }
    for (verdict, _) in verdicts.iter_mut().zip(is_inside).filter(|(_, is_inside)| !*is_inside) {
        if verdict.action() == InstanceAction::Run || *verdict == Verdict::ConditionFails {
            *verdict = Verdict::OutsideSubgraph;
        }
    }
}

/// The instances that a reference selects: `task`, or `task/1,3-5`.
fn instances(
    text: &str,
    layout: &Layout,
    names: &Names<'_>,
    nodes: &Nodes,
    report: &mut PlanningReport,
) -> Vec<u32> {
    let (name, requested) = split_reference(text, |name| names.index_of.contains_key(name));
    let Some(task_idx) = names.index_of.get(name) else {
        report.push(unknown(text, names));
        return Vec::new();
    };
    let instances = layout.first[task_idx.index()]..layout.first[task_idx.index() + 1];
    let Some(requested) = requested else { return instances.collect() };
    let own = layout.nodes[task_idx.index()].iter();
    let is_requested = |node_idx: NodeIdx| requested.contains(&nodes.uids[node_idx.index()]);
    let matching: Vec<u32> =
        instances.zip(own).filter(|(_, node)| is_requested(**node)).map(|(idx, _)| idx).collect();
    if matching.is_empty() {
        let message = format!("`{text}` matches no instance: the task runs on none of these nodes");
        report.push(Diagnostic::warning(codes::UNKNOWN_NODE, message));
    }
    matching
}

/// The instances of a plan that a reference selects, in the syntax of [`Subgraph`].
pub fn resolve_reference(plan: &Plan, reference: &str) -> Vec<InstanceIdx> {
    let find = |name: &str| plan.tasks.iter().find(|task| task.name == name);
    let (name, requested) = split_reference(reference, |name| find(name).is_some());
    let Some(task) = find(name) else { return Vec::new() };
    let is_requested = |node: &str| requested.as_ref().is_none_or(|requested| requested.contains(node));
    plan.instances_of(task)
        .filter(|instance| is_requested(instance.node))
        .map(|instance| instance.idx)
        .collect()
}

/// Splits a reference into the task name and the optional set of node uids.
fn split_reference(reference: &str, is_task: impl Fn(&str) -> bool) -> (&str, Option<HashSet<String>>) {
    match reference.rsplit_once('/') {
        // Task names may contain slashes.
        Some((name, nodes)) if !is_task(reference) => {
            (name, Some(nodes.split(',').flat_map(|part| range(part.trim())).collect()))
        }
        _ => (reference, None),
    }
}

/// Expands `3-5` to 3, 4 and 5; any other text stands for itself.
fn range(part: &str) -> Vec<String> {
    /// Longer ranges are certainly a typing error and are not expanded.
    const LEN_MAX: u64 = 1_000_000;
    let ends = part
        .split_once('-')
        .and_then(|(from, to)| Some((from.parse::<u64>().ok()?, to.parse::<u64>().ok()?)));
    match ends {
        Some((from, to)) if to >= from && to - from < LEN_MAX => {
            (from..=to).map(|number| number.to_string()).collect()
        }
        _ => vec![part.to_owned()],
    }
}
