//! A plan as a diagram of its instances, grouped by node.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;

use stoker_pictures::{Appearance, Diagram, Vertex};

use crate::plan::{Instance, InstanceAction, Plan};

/// Selects the instances to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceFilter {
    /// Tasks to draw; empty selects all tasks.
    pub tasks: Vec<String>,
    /// Nodes to draw; empty selects all nodes.
    pub nodes: Vec<String>,
    /// Restricts the drawing to the instances of this task and their direct predecessors.
    pub parents_of: Option<String>,
    /// Omits skipped instances. A dependency through skipped instances is drawn as one edge.
    pub running_only: bool,
    /// Maximum number of instances; the diagram states how many are omitted.
    pub n_max: Option<usize>,
}

/// The filter names tasks or nodes that the plan does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownNames {
    pub tasks: Vec<String>,
    pub nodes: Vec<String>,
}

impl fmt::Display for UnknownNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted =
            |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        f.write_str("the plan has ")?;
        if !self.tasks.is_empty() {
            write!(f, "no task {}", quoted(&self.tasks))?;
        }
        if !self.tasks.is_empty() && !self.nodes.is_empty() {
            f.write_str(" and ")?;
        }
        if !self.nodes.is_empty() {
            write!(f, "no node {}", quoted(&self.nodes))?;
        }
        Ok(())
    }
}

impl Error for UnknownNames {}

/// Bound on the traversal through skipped instances, for the whole diagram: beyond it some indirect edges are
/// missing, but the time stays bounded.
const STEPS_MAX: usize = 20_000_000;

/// Draws the instances of a plan. `looks` gives the appearance of each instance: [`Appearance::Pending`] or
/// [`Appearance::WillSkip`] if there is no run yet. Fails if the filter names an unknown task or node.
pub fn draw_plan(
    plan: &Plan,
    filter: &InstanceFilter,
    looks: &dyn Fn(&Instance<'_>) -> Appearance,
) -> Result<Diagram, UnknownNames> {
    check(plan, filter)?;
    let mut finder = SuccessorFinder::new(plan, filter.running_only);
    let is_drawn = select_instances(plan, filter, &mut finder);
    let (n_max, mut n_left_out) = (filter.n_max.unwrap_or(usize::MAX), 0);
    let mut vertices = Vec::new();
    let mut numbers = vec![None; plan.n_instances()];
    for instance in plan.instances().filter(|instance| is_drawn[instance.idx.index()]) {
        if vertices.len() >= n_max {
            n_left_out += 1;
            continue;
        }
        numbers[instance.idx.index()] = Some(vertices.len() as u32);
        let Instance { task, node, .. } = instance;
        vertices.push(Vertex {
            id: format!("Task[{task}/{node}]"),
            label: task.to_owned(),
            appearance: looks(&instance),
            cluster: Some(node.to_owned()),
        });
    }
    let mut edges = Vec::new();
    for (idx, number) in (0_u32..).zip(&numbers) {
        let Some(from) = number else { continue };
        let targets = finder.targets(idx);
        edges.extend(targets.into_iter().filter_map(|to| Some((*from, numbers[to as usize]?))));
    }
    Ok(Diagram { title: "Task instances of a plan".to_owned(), vertices, edges, n_omitted: n_left_out })
}

/// For each instance, whether the filter selects it.
fn select_instances(plan: &Plan, filter: &InstanceFilter, finder: &mut SuccessorFinder<'_>) -> Vec<bool> {
    let tasks: HashSet<&str> = filter.tasks.iter().map(String::as_str).collect();
    let nodes: HashSet<&str> = filter.nodes.iter().map(String::as_str).collect();
    let is_drawn = |instance: Instance<'_>| {
        (nodes.is_empty() || nodes.contains(instance.node))
            && (tasks.is_empty() || tasks.contains(instance.task))
            && (!filter.running_only || instance.verdict.action() == InstanceAction::Run)
    };
    let drawn: Vec<bool> = plan.instances().map(is_drawn).collect();
    let Some(child) = plan.tasks.iter().find(|task| Some(&task.name) == filter.parents_of.as_ref()) else {
        return drawn;
    };
    let first = child.first.get();
    let children = first..first + child.nodes.len() as u32;
    let is_child = |idx: u32| children.contains(&idx) && drawn[idx as usize];
    let mut is_selected = |idx: u32| is_child(idx) || finder.targets(idx).into_iter().any(is_child);
    (0_u32..).zip(&drawn).map(|(idx, is_drawn)| *is_drawn && is_selected(idx)).collect()
}

fn check(plan: &Plan, filter: &InstanceFilter) -> Result<(), UnknownNames> {
    let names: HashSet<&str> = plan.tasks.iter().map(|task| task.name.as_str()).collect();
    let uids: HashSet<&str> = plan.nodes.iter().map(String::as_str).collect();
    let unknown = |requested: Vec<&String>, existing: &HashSet<&str>| -> Vec<String> {
        requested.into_iter().filter(|name| !existing.contains(name.as_str())).cloned().collect()
    };
    let tasks = unknown(filter.tasks.iter().chain(&filter.parents_of).collect(), &names);
    let nodes = unknown(filter.nodes.iter().collect(), &uids);
    if tasks.is_empty() && nodes.is_empty() { Ok(()) } else { Err(UnknownNames { tasks, nodes }) }
}

/// Finds the direct successors of instances.
struct SuccessorFinder<'p> {
    plan: &'p Plan,
    /// Whether to traverse skipped instances.
    through_skipped: bool,
    /// For each vertex, the last traversal that reached it; avoids clearing a visited set.
    reached_in: Vec<u32>,
    n_traversals: u32,
    n_steps: usize,
}

impl<'p> SuccessorFinder<'p> {
    fn new(plan: &'p Plan, through_skipped: bool) -> Self {
        Self {
            plan,
            through_skipped,
            reached_in: vec![0; plan.order.n_vertices()],
            n_traversals: 0,
            n_steps: 0,
        }
    }

    fn targets(&mut self, from: u32) -> Vec<u32> {
        let mut successors = Vec::new();
        self.n_traversals += 1;
        let traversal = self.n_traversals;
        let mut pending = vec![from];
        while let Some(vertex) = pending.pop() {
            for target in self.plan.order.targets(vertex) {
                if std::mem::replace(&mut self.reached_in[*target as usize], traversal) == traversal {
                    continue;
                }
                self.n_steps += 1;
                match self.plan.verdicts.get(*target as usize) {
                    None => pending.push(*target),
                    Some(verdict) if self.through_skipped && verdict.action() == InstanceAction::Skip => {
                        if self.n_steps < STEPS_MAX {
                            pending.push(*target);
                        }
                    }
                    Some(_) => successors.push(*target),
                }
            }
        }
        successors.sort_unstable();
        successors
    }
}
