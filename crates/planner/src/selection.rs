//! Running a part of a graph: chosen tasks, or what lies between some of them.

use std::collections::HashSet;

use stoker_graph::Csr;

use crate::input::{Request, Subgraph};
use crate::names::Names;
use crate::nodes::Nodes;
use crate::plan::{Action, Plan, Verdict};
use crate::problem::{Problem, Report, codes};
use crate::wiring::Layout;

/// By task whether it was asked for. Names that are no tasks are told.
pub(crate) fn selected_tasks(request: &Request, names: &Names<'_>, report: &mut Report) -> Vec<bool> {
    let Some(wanted) = &request.tasks else { return vec![true; names.index_of.len()] };
    let mut is_selected = vec![false; names.index_of.len()];
    for name in wanted {
        match names.index_of.get(name.as_str()) {
            Some(task_idx) => is_selected[*task_idx as usize] = true,
            None => report.push(unknown(name, names)),
        }
    }
    is_selected
}

fn unknown(name: &str, names: &Names<'_>) -> Problem {
    let message = format!("`{name}` was asked for and is no task of this graph");
    Problem::warning(codes::UNKNOWN_TASK, message).help(names.suggestion(name))
}

/// Skips what lies outside of all pieces. It still takes part in the order.
pub(crate) fn cut(
    subgraphs: &[Subgraph],
    order: &Csr,
    layout: &Layout,
    names: &Names<'_>,
    nodes: &Nodes,
    verdicts: &mut [Verdict],
    report: &mut Report,
) {
    if subgraphs.is_empty() {
        return;
    }
    let backward = order.reversed();
    let mut is_inside = vec![false; order.n_vertices()];
    for piece in subgraphs {
        let mut found = |references: &[String], what: &str| {
            let found: Vec<u32> =
                references.iter().flat_map(|text| instances(text, layout, names, nodes, report)).collect();
            if found.is_empty() {
                let named: Vec<String> = references.iter().map(|text| format!("`{text}`")).collect();
                let message = format!(
                    "a part of the graph is to {what} at {}, and there is no such task on such a node",
                    named.join(", ")
                );
                // A slip would otherwise run nothing, and succeed.
                report.push(Problem::error(codes::UNKNOWN_TASK, message));
            }
            found
        };
        let after = (!piece.start.is_empty()).then(|| order.reachable(found(&piece.start, "begin")));
        let before = (!piece.end.is_empty()).then(|| backward.reachable(found(&piece.end, "end")));
        for (vertex, is_inside) in is_inside.iter_mut().enumerate() {
            let is_in = |reached: &Option<Vec<bool>>| reached.as_ref().is_none_or(|reached| reached[vertex]);
            *is_inside |= is_in(&after) && is_in(&before);
        }
    }
    for (verdict, _) in verdicts.iter_mut().zip(is_inside).filter(|(_, is_inside)| !*is_inside) {
        if verdict.action() == Action::Run || *verdict == Verdict::ConditionFails {
            *verdict = Verdict::OutsideSubgraph;
        }
    }
}

/// The instances that a reference means: `task`, or `task/1,3-5`.
fn instances(text: &str, layout: &Layout, names: &Names<'_>, nodes: &Nodes, report: &mut Report) -> Vec<u32> {
    let (name, wanted) = parts(text, |name| names.index_of.contains_key(name));
    let Some(task_idx) = names.index_of.get(name) else {
        report.push(unknown(text, names));
        return Vec::new();
    };
    let instances = layout.first[*task_idx as usize]..layout.first[*task_idx as usize + 1];
    let Some(wanted) = wanted else { return instances.collect() };
    let own = layout.nodes[*task_idx as usize].iter();
    let is_wanted = |node_idx: u32| wanted.contains(&nodes.uids[node_idx as usize]);
    let found: Vec<u32> =
        instances.zip(own).filter(|(_, node)| is_wanted(**node)).map(|(idx, _)| idx).collect();
    if found.is_empty() {
        let message = format!("`{text}` was asked for, and the task is on none of these nodes");
        report.push(Problem::warning(codes::UNKNOWN_NODE, message));
    }
    found
}

/// The instances of a plan that a reference means; it is read as those of [`Subgraph`] are.
pub fn referred(plan: &Plan, reference: &str) -> Vec<u32> {
    let find = |name: &str| plan.tasks.iter().find(|task| task.name == name);
    let (name, wanted) = parts(reference, |name| find(name).is_some());
    let Some(task) = find(name) else { return Vec::new() };
    let is_wanted = |node: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(node));
    plan.instances_of(task).filter(|instance| is_wanted(instance.node)).map(|instance| instance.idx).collect()
}

/// The task of a reference, and the nodes where it names some.
fn parts(reference: &str, is_task: impl Fn(&str) -> bool) -> (&str, Option<HashSet<String>>) {
    match reference.rsplit_once('/') {
        // A task may have a slash in its name.
        Some((name, nodes)) if !is_task(reference) => {
            (name, Some(nodes.split(',').flat_map(|part| range(part.trim())).collect()))
        }
        _ => (reference, None),
    }
}

/// `3-5` is 3, 4 and 5; anything else is itself.
fn range(part: &str) -> Vec<String> {
    /// More is surely a slip.
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
