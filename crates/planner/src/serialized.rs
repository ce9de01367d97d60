//! The shape in which plans were sent to orchestrators: `{tasks_directory, tasks_graph, tasks_metadata}`.
//!
//! It names every edge at both of its ends, so it grows with the product of sets that wait for each other. It is
//! written piece by piece and never as a whole in memory.

use std::fmt::{self, Write as _};

use stoker_model::Json;

use crate::plan::{Action, Instance, Plan};
use crate::state::SYNC;

/// Writes a plan in the old shape.
pub struct Serialized<'p>(pub &'p Plan);

impl fmt::Display for Serialized<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.0;
        let instances: Vec<Instance<'_>> = plan.instances().collect();
        let mut by_node: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
        for task in &plan.tasks {
            for (idx, node_idx) in (task.first..).zip(&*task.nodes) {
                by_node[*node_idx as usize].push(idx);
            }
        }
        let writing = Writing { plan, instances, before: plan.order.reversed() };
        f.write_str("{\"tasks_directory\": {}, \"tasks_graph\": {")?;
        let placed = plan.nodes.iter().zip(&by_node).filter(|(_, of_node)| !of_node.is_empty());
        for (place, (uid, of_node)) in placed.enumerate() {
            let key = if uid == SYNC { "null" } else { uid };
            write!(f, "{}{}: [", comma(place), Json::from(key))?;
            for (place, idx) in of_node.iter().enumerate() {
                f.write_str(comma(place))?;
                writing.instance(f, *idx)?;
            }
            f.write_char(']')?;
        }
        f.write_str("}, \"tasks_metadata\": {\"fault_tolerance_groups\": [")?;
        for (place, group) in plan.groups.iter().enumerate() {
            let (name, nodes) = (Json::from(&*group.name), Json::from(group.nodes.clone()));
            let tolerated = group.tolerated;
            let start = comma(place);
            write!(
                f,
                "{start}{{\"name\": {name}, \"node_ids\": {nodes}, \"fault_tolerance\": {tolerated}}}"
            )?;
        }
        f.write_str("]}}")
    }
}

fn comma(place: usize) -> &'static str {
    if place > 0 { ", " } else { "" }
}

struct Writing<'p> {
    plan: &'p Plan,
    instances: Vec<Instance<'p>>,
    /// The order, turned round.
    before: stoker_graph::Csr,
}

impl Writing<'_> {
    fn instance(&self, f: &mut fmt::Formatter<'_>, idx: u32) -> fmt::Result {
        let instance = &self.instances[idx as usize];
        write!(f, "{{\"id\": {}", Json::from(instance.task))?;
        match self.plan.details(idx).filter(|_| instance.verdict.action() == Action::Run) {
            Some(details) => {
                let task_type = Json::from(&*details.task_type);
                write!(f, ", \"type\": {task_type}, \"fail_on_error\": {}", details.fail_on_error)?;
                write!(f, ", \"parameters\": {}", details.parameters)?;
            }
            None => f.write_str(", \"type\": \"skipped\"")?,
        }
        self.others(f, "requires", &neighbours(&self.before, idx, self.instances.len()))?;
        self.others(f, "required_for", &neighbours(&self.plan.order, idx, self.instances.len()))?;
        f.write_char('}')
    }

    fn others(&self, f: &mut fmt::Formatter<'_>, field: &str, others: &[u32]) -> fmt::Result {
        if others.is_empty() {
            return Ok(());
        }
        write!(f, ", \"{field}\": [")?;
        for (place, idx) in others.iter().enumerate() {
            let Instance { task, node, .. } = self.instances[*idx as usize];
            let node = if node == SYNC { Json::Null } else { Json::from(node) };
            write!(f, "{}{{\"name\": {}, \"node_id\": {node}}}", comma(place), Json::from(task))?;
        }
        f.write_char(']')
    }
}

/// The instances that edges of one lead to, through places where sets meet.
fn neighbours(edges: &stoker_graph::Csr, idx: u32, n_instances: usize) -> Vec<u32> {
    let mut found = Vec::new();
    for target in edges.targets(idx) {
        if (*target as usize) < n_instances {
            found.push(*target);
        } else {
            found.extend_from_slice(edges.targets(*target));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
