//! The Fuel serialization of plans: `{tasks_directory, tasks_graph, tasks_metadata}`, as sent to
//! orchestrators.
//!
//! The format lists every edge at both ends, so its size grows with the product of sets that depend on each
//! other. It is therefore streamed and never held in memory as a whole.

use std::fmt::{self, Write as _};

use stoker_model::Json;
use stoker_state::SYNC;

use crate::plan::{Instance, InstanceAction, Plan};

/// Displays a plan in the Fuel format.
pub struct FuelSerialization<'p>(pub &'p Plan);

impl fmt::Display for FuelSerialization<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.0;
        let instances: Vec<Instance<'_>> = plan.instances().collect();
        let mut by_node: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
        for task in &plan.tasks {
            for (idx, node_idx) in task.instances() {
                by_node[node_idx.index()].push(idx.get());
            }
        }
        let writer = Writer { plan, instances, predecessors: plan.order.reversed() };
        f.write_str("{\"tasks_directory\": {}, \"tasks_graph\": {")?;
        let placed = plan.nodes.iter().zip(&by_node).filter(|(_, of_node)| !of_node.is_empty());
        for (position, (uid, of_node)) in placed.enumerate() {
            let key = if uid == SYNC { "null" } else { uid };
            write!(f, "{}{}: [", comma(position), Json::from(key))?;
            for (position, idx) in of_node.iter().enumerate() {
                f.write_str(comma(position))?;
                writer.instance(f, *idx)?;
            }
            f.write_char(']')?;
        }
        f.write_str("}, \"tasks_metadata\": {\"fault_tolerance_groups\": [")?;
        for (position, group) in plan.groups.iter().enumerate() {
            let (name, nodes) = (Json::from(&*group.name), Json::from(group.nodes.clone()));
            let tolerated = group.max_failed;
            let start = comma(position);
            write!(
                f,
                "{start}{{\"name\": {name}, \"node_ids\": {nodes}, \"fault_tolerance\": {tolerated}}}"
            )?;
        }
        f.write_str("]}}")
    }
}

fn comma(position: usize) -> &'static str {
    if position > 0 { ", " } else { "" }
}

struct Writer<'p> {
    plan: &'p Plan,
    instances: Vec<Instance<'p>>,
    /// The reversed order.
    predecessors: stoker_graph::Csr,
}

impl Writer<'_> {
    fn instance(&self, f: &mut fmt::Formatter<'_>, idx: u32) -> fmt::Result {
        let instance = &self.instances[idx as usize];
        write!(f, "{{\"id\": {}", Json::from(instance.task))?;
        match self.plan.details(instance.idx).filter(|_| instance.verdict.action() == InstanceAction::Run) {
            Some(details) => {
                let task_type = Json::from(&*details.task_type);
                write!(f, ", \"type\": {task_type}, \"fail_on_error\": {}", details.fail_on_error)?;
                write!(f, ", \"parameters\": {}", details.parameters)?;
            }
            None => f.write_str(", \"type\": \"skipped\"")?,
        }
        self.others(f, "requires", &neighbours(&self.predecessors, idx, self.instances.len()))?;
        self.others(f, "required_for", &neighbours(&self.plan.order, idx, self.instances.len()))?;
        f.write_char('}')
    }

    fn others(&self, f: &mut fmt::Formatter<'_>, field: &str, others: &[u32]) -> fmt::Result {
        if others.is_empty() {
            return Ok(());
        }
        write!(f, ", \"{field}\": [")?;
        for (position, idx) in others.iter().enumerate() {
            let Instance { task, node, .. } = self.instances[*idx as usize];
            let node = if node == SYNC { Json::Null } else { Json::from(node) };
            write!(f, "{}{{\"name\": {}, \"node_id\": {node}}}", comma(position), Json::from(task))?;
        }
        f.write_char(']')
    }
}

/// Adjacent instances of one instance, with junction vertices expanded.
fn neighbours(edges: &stoker_graph::Csr, idx: u32, n_instances: usize) -> Vec<u32> {
    let mut instances = Vec::new();
    for target in edges.targets(idx) {
        if (*target as usize) < n_instances {
            instances.push(*target);
        } else {
            instances.extend_from_slice(edges.targets(*target));
        }
    }
    instances.sort_unstable();
    instances.dedup();
    instances
}
