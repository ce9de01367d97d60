//! Checks that all edges of the order are in range and that it has no cycle.

use super::Violations;
use crate::plan::Plan;

/// Depth-first search state of a vertex.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Unvisited,
    /// The vertex is on the current path, with this many outgoing edges already followed.
    OnPath(u32),
    ComputedFields,
}

pub(super) fn check(plan: &Plan, violations: &mut Violations) {
    let (n_instances, n_vertices) = (plan.verdicts.len(), plan.order.n_vertices());
    let mut is_valid = true;
    for vertex in 0..n_vertices {
        for target in plan.order.targets(vertex as u32) {
            let target = *target as usize;
            let message = if target >= n_vertices {
                "has a target out of range"
            } else if vertex >= n_instances && target >= n_instances {
                "connects two junction vertices"
            } else {
                continue;
            };
            is_valid = false;
            violations.add("order", || format!("an edge from {} {message}", name(plan, vertex)));
        }
    }
    // The search follows every edge, so it needs all targets to be in range.
    if is_valid && let Some(cycle) = cycle(plan) {
        let names: Vec<String> = cycle.iter().map(|vertex| name(plan, *vertex)).collect();
        violations.add("order", || format!("dependency cycle: {}", names.join(" → ")));
    }
}

/// The first cycle found by depth-first search, closed, without junction vertices.
fn cycle(plan: &Plan) -> Option<Vec<usize>> {
    let mut visits = vec![Visit::Unvisited; plan.order.n_vertices()];
    let mut path = Vec::new();
    for start in 0..visits.len() {
        if visits[start] != Visit::Unvisited {
            continue;
        }
        path.push(start);
        visits[start] = Visit::OnPath(0);
        while let Some(vertex) = path.last().copied() {
            let Visit::OnPath(n_followed) = visits[vertex] else { break };
            let Some(target) = plan.order.targets(vertex as u32).get(n_followed as usize) else {
                visits[vertex] = Visit::ComputedFields;
                path.pop();
                continue;
            };
            visits[vertex] = Visit::OnPath(n_followed + 1);
            let target = *target as usize;
            match visits[target] {
                Visit::Unvisited => {
                    visits[target] = Visit::OnPath(0);
                    path.push(target);
                }
                Visit::OnPath(_) => return Some(closed_cycle(plan, &path, target)),
                Visit::ComputedFields => {}
            }
        }
    }
    None
}

fn closed_cycle(plan: &Plan, path: &[usize], target: usize) -> Vec<usize> {
    let start = path.iter().position(|vertex| *vertex == target).unwrap_or_default();
    let mut cycle: Vec<usize> =
        path[start..].iter().copied().filter(|vertex| *vertex < plan.verdicts.len()).collect();
    cycle.extend(cycle.first().copied());
    cycle
}

fn name(plan: &Plan, vertex: usize) -> String {
    for task in &plan.tasks {
        let first = task.first.index();
        if (first..first + task.nodes.len()).contains(&vertex) {
            return format!("{}@{}", task.name, plan.nodes[task.nodes[vertex - first].index()]);
        }
    }
    format!("junction {vertex}")
}
