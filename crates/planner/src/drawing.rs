//! A plan as a drawing: its instances, with those of a node together.

use std::collections::HashSet;

use stoker_pictures::{Drawing, Looks, Vertex};

use crate::plan::{Action, Instance, Plan};

/// Which instances are drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceFilter {
    /// Only these tasks; none: all.
    pub tasks: Vec<String>,
    /// Only these nodes; none: all.
    pub nodes: Vec<String>,
    /// Only the instances of this task, and what is directly before them.
    pub parents_of: Option<String>,
    /// Only what runs. What is before what through skipped instances is drawn as an edge.
    pub runs_only: bool,
    /// Not more than so many instances; the drawing says how many are left out.
    pub n_max: Option<usize>,
}

/// How far edges are followed through what is skipped. Beyond that, some are not drawn.
const STEPS_MAX: usize = 20_000_000;

/// Draws the instances of a plan; `looks` says how each of them looks, [`Looks::Pending`] or [`Looks::ToSkip`] if there
/// is no run yet. The error says which name in the filter is wrong.
pub fn draw(
    plan: &Plan,
    filter: &InstanceFilter,
    looks: &dyn Fn(&Instance<'_>) -> Looks,
) -> Result<Drawing, String> {
    check(plan, filter)?;
    let mut following = Following::new(plan, filter.runs_only);
    let is_drawn = drawn(plan, filter, &mut following);
    let (n_max, mut n_left_out) = (filter.n_max.unwrap_or(usize::MAX), 0);
    let mut vertices = Vec::new();
    let mut numbers = vec![None; plan.n_instances()];
    for instance in plan.instances().filter(|instance| is_drawn[instance.idx as usize]) {
        if vertices.len() >= n_max {
            n_left_out += 1;
            continue;
        }
        numbers[instance.idx as usize] = Some(vertices.len() as u32);
        let Instance { task, node, .. } = instance;
        vertices.push(Vertex {
            id: format!("Task[{task}/{node}]"),
            label: task.to_owned(),
            looks: looks(&instance),
            cluster: Some(node.to_owned()),
        });
    }
    let mut edges = Vec::new();
    for (idx, number) in (0_u32..).zip(&numbers) {
        let Some(from) = number else { continue };
        let targets = following.targets(idx);
        edges.extend(targets.into_iter().filter_map(|to| Some((*from, numbers[to as usize]?))));
    }
    Ok(Drawing { title: "Task instances of a plan".to_owned(), vertices, edges, n_left_out })
}

/// By instance, whether the filter lets it through.
fn drawn(plan: &Plan, filter: &InstanceFilter, following: &mut Following<'_>) -> Vec<bool> {
    let tasks: HashSet<&str> = filter.tasks.iter().map(String::as_str).collect();
    let nodes: HashSet<&str> = filter.nodes.iter().map(String::as_str).collect();
    let is_drawn = |instance: Instance<'_>| {
        (nodes.is_empty() || nodes.contains(instance.node))
            && (tasks.is_empty() || tasks.contains(instance.task))
            && (!filter.runs_only || instance.verdict.action() == Action::Run)
    };
    let drawn: Vec<bool> = plan.instances().map(is_drawn).collect();
    let Some(child) = plan.tasks.iter().find(|task| Some(&task.name) == filter.parents_of.as_ref()) else {
        return drawn;
    };
    let children = child.first..child.first + child.nodes.len() as u32;
    let is_child = |idx: u32| children.contains(&idx) && drawn[idx as usize];
    let mut is_kept = |idx: u32| is_child(idx) || following.targets(idx).into_iter().any(is_child);
    (0_u32..).zip(&drawn).map(|(idx, is_drawn)| *is_drawn && is_kept(idx)).collect()
}

fn check(plan: &Plan, filter: &InstanceFilter) -> Result<(), String> {
    let names: HashSet<&str> = plan.tasks.iter().map(|task| task.name.as_str()).collect();
    let uids: HashSet<&str> = plan.nodes.iter().map(String::as_str).collect();
    let unknown = |wanted: Vec<&String>, known: &HashSet<&str>| -> Vec<String> {
        wanted
            .into_iter()
            .filter(|name| !known.contains(name.as_str()))
            .map(|name| format!("`{name}`"))
            .collect()
    };
    let tasks = unknown(filter.tasks.iter().chain(&filter.parents_of).collect(), &names);
    let nodes = unknown(filter.nodes.iter().collect(), &uids);
    match (tasks.is_empty(), nodes.is_empty()) {
        (true, true) => Ok(()),
        (false, true) => Err(format!("no task of the plan is called {}", tasks.join(" or "))),
        (true, false) => Err(format!("no node of the plan is called {}", nodes.join(" or "))),
        (false, false) => Err(format!(
            "no task of the plan is called {} and no node {}",
            tasks.join(" or "),
            nodes.join(" or ")
        )),
    }
}

/// Follows edges to instances.
struct Following<'p> {
    plan: &'p Plan,
    /// Whether to go on where nothing runs.
    through_skipped: bool,
    /// By vertex, the last round in which it was reached.
    reached_in: Vec<u32>,
    n_rounds: u32,
    n_steps: usize,
}

impl<'p> Following<'p> {
    fn new(plan: &'p Plan, through_skipped: bool) -> Self {
        Self { plan, through_skipped, reached_in: vec![0; plan.order.n_vertices()], n_rounds: 0, n_steps: 0 }
    }

    fn targets(&mut self, from: u32) -> Vec<u32> {
        let mut found = Vec::new();
        self.n_rounds += 1;
        let round = self.n_rounds;
        let mut waiting = vec![from];
        while let Some(vertex) = waiting.pop() {
            for target in self.plan.order.targets(vertex) {
                if std::mem::replace(&mut self.reached_in[*target as usize], round) == round {
                    continue;
                }
                self.n_steps += 1;
                match self.plan.verdicts.get(*target as usize) {
                    None => waiting.push(*target),
                    Some(verdict) if self.through_skipped && verdict.action() == Action::Skip => {
                        if self.n_steps < STEPS_MAX {
                            waiting.push(*target);
                        }
                    }
                    Some(_) => found.push(*target),
                }
            }
        }
        found.sort_unstable();
        found
    }
}
