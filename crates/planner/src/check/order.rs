//! Whether the order leads somewhere and never in a circle.

use super::Findings;
use crate::plan::Plan;

/// How far a vertex is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    No,
    /// It is on the way that is being walked, with this many of its edges done.
    OnTheWay(u32),
    Done,
}

pub(super) fn check(plan: &Plan, findings: &mut Findings) {
    let (n_instances, n_vertices) = (plan.verdicts.len(), plan.order.n_vertices());
    let mut is_right = true;
    for vertex in 0..n_vertices {
        for target in plan.order.targets(vertex as u32) {
            let target = *target as usize;
            let message = if target >= n_vertices {
                "leads out of the order"
            } else if vertex >= n_instances && target >= n_instances {
                "joins two places where sets meet"
            } else {
                continue;
            };
            is_right = false;
            findings.add("order", || format!("an edge from {} {message}", name(plan, vertex)));
        }
    }
    // A circle is only looked for among edges that can be followed.
    if is_right && let Some(circle) = circle(plan) {
        let names: Vec<String> = circle.iter().map(|vertex| name(plan, *vertex)).collect();
        findings.add("order", || format!("these wait for each other: {}", names.join(" → ")));
    }
}

/// The first circle that a walk along all edges meets, closed, without the places where sets meet.
fn circle(plan: &Plan) -> Option<Vec<usize>> {
    let mut seen = vec![Seen::No; plan.order.n_vertices()];
    let mut way = Vec::new();
    for start in 0..seen.len() {
        if seen[start] != Seen::No {
            continue;
        }
        way.push(start);
        seen[start] = Seen::OnTheWay(0);
        while let Some(vertex) = way.last().copied() {
            let Seen::OnTheWay(n_done) = seen[vertex] else { break };
            let Some(target) = plan.order.targets(vertex as u32).get(n_done as usize) else {
                seen[vertex] = Seen::Done;
                way.pop();
                continue;
            };
            seen[vertex] = Seen::OnTheWay(n_done + 1);
            let target = *target as usize;
            match seen[target] {
                Seen::No => {
                    seen[target] = Seen::OnTheWay(0);
                    way.push(target);
                }
                Seen::OnTheWay(_) => return Some(closed(plan, &way, target)),
                Seen::Done => {}
            }
        }
    }
    None
}

fn closed(plan: &Plan, way: &[usize], target: usize) -> Vec<usize> {
    let start = way.iter().position(|vertex| *vertex == target).unwrap_or_default();
    let mut circle: Vec<usize> =
        way[start..].iter().copied().filter(|vertex| *vertex < plan.verdicts.len()).collect();
    circle.extend(circle.first().copied());
    circle
}

fn name(plan: &Plan, vertex: usize) -> String {
    for task in &plan.tasks {
        let first = task.first as usize;
        if (first..first + task.nodes.len()).contains(&vertex) {
            return format!("{}@{}", task.name, plan.nodes[task.nodes[vertex - first] as usize]);
        }
    }
    format!("place {vertex}")
}
