//! Immutable description of what a run executes.
//!
//! A [`Blueprint`] is built from a [`Draft`] of plain arrays. All defects are found here and reported together, so a run that has started cannot encounter an unknown task type or
//! an invalid limit. The mutable state is [`crate::run::RunMachine`].

mod check;
mod draft;
mod handlers;
mod options;
mod policy;
mod subset;
mod weights;

pub use check::Defect;
pub use draft::{Draft, DraftInstance, DraftWork, Group};
pub use handlers::Handlers;
pub use options::{ExecutionOptions, FailurePolicy, StagePolicy};
pub use policy::{Executor, Policy, TypeDefaults};

use stoker_graph::Csr;
use stoker_model::{GroupIdx, InstanceIdx, NodeIdx, TaskIdx};

pub(crate) use policy::PolicyIdx;
pub(crate) use weights::ApplyKey;

/// Name of the implicit group of all nodes that are in no other group. None of them may fail.
pub const ZERO_TOLERANCE: &str = "zero tolerance";

/// Name of the implicit group of all nodes with work, if the run options limit how many of them may fail.
pub const WHOLE_RUN: &str = "the whole run";

/// A validated description of a run. Instances, tasks and nodes are identified by their index in the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Blueprint {
    pub(crate) nodes: Vec<Node>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) instances: Vec<Instance>,
    /// Distinct policies; many instances share one.
    pub(crate) policies: Vec<Policy>,
    /// Dependency edges. Vertices with an index past the last instance are junctions.
    pub(crate) order: Csr,
    /// Number of direct predecessors of each vertex.
    pub(crate) n_before: Vec<u32>,
    /// Priority rank of each instance, 0 being the most urgent; `by_rank` is the inverse.
    pub(crate) rank: Vec<ApplyKey>,
    pub(crate) by_rank: Vec<InstanceIdx>,
    pub(crate) groups: Vec<Group>,
    pub(crate) handlers: Handlers,
    pub(crate) n_limited: u32,
    pub(crate) options: ExecutionOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) uid: String,
    /// The virtual node of stages, which has no agent.
    pub(crate) is_sync: bool,
    pub(crate) n_instances: u32,
    pub(crate) groups: Vec<GroupIdx>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) limit: Option<Limit>,
}

/// Concurrency limit of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Index among the tasks with a limit.
    pub(crate) idx: u32,
    pub(crate) n_max: u32,
}

/// The type is small because a run may have millions of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instance {
    pub(crate) task: TaskIdx,
    pub(crate) node: NodeIdx,
    /// Work of the instance; `None` if it is skipped.
    pub(crate) work: Option<InstanceWork>,
}

/// Execution parameters of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstanceWork {
    /// Node whose agent executes it.
    pub(crate) executor: NodeIdx,
    pub(crate) policy: PolicyIdx,
}

impl Blueprint {
    pub fn n_instances(&self) -> usize {
        self.instances.len()
    }

    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    pub fn options(&self) -> &ExecutionOptions {
        &self.options
    }

    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns the uid of a node.
    pub fn node(&self, node: NodeIdx) -> Option<&str> {
        self.nodes.get(node.index()).map(|node| node.uid.as_str())
    }

    /// Returns the index of the node with this uid.
    pub fn node_of_uid(&self, uid: &str) -> Option<NodeIdx> {
        self.nodes.iter().position(|node| node.uid == uid).map(NodeIdx::at)
    }

    /// Returns the task name and node uid of an instance.
    pub fn names(&self, instance: InstanceIdx) -> Option<(&str, &str)> {
        let instance = self.instances.get(instance.index())?;
        Some((&self.tasks[instance.task.index()].name, &self.nodes[instance.node.index()].uid))
    }

    /// Returns `task@node`, the notation of plans.
    pub fn name(&self, instance: InstanceIdx) -> String {
        self.names(instance).map_or_else(String::new, |(task, node)| format!("{task}@{node}"))
    }

    /// Returns the node that an instance belongs to.
    pub fn node_of(&self, instance: InstanceIdx) -> Option<NodeIdx> {
        self.instances.get(instance.index()).map(|instance| instance.node)
    }

    /// Returns the node whose agent executes an instance; `None` if it is skipped.
    pub fn executor_of(&self, instance: InstanceIdx) -> Option<NodeIdx> {
        Some(self.instances.get(instance.index())?.work?.executor)
    }

    /// Returns the execution policy of an instance; `None` if it is skipped.
    pub fn policy_of(&self, instance: InstanceIdx) -> Option<&Policy> {
        self.policies.get(self.instances.get(instance.index())?.work?.policy.index())
    }

    /// Returns the maximum number of concurrently running instances of a task.
    pub fn limit_of(&self, task: TaskIdx) -> Option<u32> {
        self.tasks.get(task.index())?.limit.map(|limit| limit.n_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_small() {
        assert_eq!(size_of::<Instance>(), 16);
    }
}
