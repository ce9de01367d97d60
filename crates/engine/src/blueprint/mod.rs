//! What is to be run, fixed before it begins.
//!
//! A [`Blueprint`] is made from a [`Draft`] of plain arrays, or from a plan by [`of_plan()`]. Everything that can be wrong
//! with it is found here, all at once, so that a run that has begun cannot meet an unknown type or a limit that makes
//! no sense. It never changes; what happens to it is a [`crate::run::Run`].

mod check;
mod draft;
mod of_plan;
mod options;
mod policy;
mod rest;
mod weights;

pub use check::Defect;
pub use draft::{Draft, DraftInstance, Group, Work};
pub use of_plan::{draft_of_plan, of_plan};
pub use options::{AtStages, OnFailure, Options};
pub use policy::{Policy, RunsOn, Timing};

use stoker_graph::Csr;

/// The name of the group of all nodes that are in no other; none of them may fail.
pub const ZERO_TOLERANCE: &str = "zero tolerance";

/// The name of the group of all nodes that have something to do, where the run says how many of them may fail.
pub const WHOLE_RUN: &str = "the whole run";

pub(crate) const NONE: u32 = u32::MAX;

/// A run before it is run. Instances, tasks and nodes are numbers, as in the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Blueprint {
    pub(crate) nodes: Vec<Node>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) instances: Vec<Instance>,
    /// Those that differ; many instances share one.
    pub(crate) policies: Vec<Policy>,
    /// What is before what; vertices beyond the instances are where sets meet.
    pub(crate) order: Csr,
    /// By vertex how many others are directly before it.
    pub(crate) n_before: Vec<u32>,
    /// By instance its place among all, the most urgent first; and the other way round.
    pub(crate) rank: Vec<u32>,
    pub(crate) by_rank: Vec<u32>,
    pub(crate) groups: Vec<Group>,
    pub(crate) n_limited: u32,
    pub(crate) options: Options,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) uid: String,
    /// Where stages are: it has no agent.
    pub(crate) is_sync: bool,
    pub(crate) n_instances: u32,
    /// Places in the list of groups.
    pub(crate) groups: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) limit: Option<Limit>,
}

/// How many instances of a task may run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Its place among the tasks that have one.
    pub(crate) idx: u32,
    pub(crate) n_max: u32,
}

/// Small on purpose: there are millions of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instance {
    pub(crate) task: u32,
    pub(crate) node: u32,
    /// The node whose agent does it; `NONE` if there is nothing to do.
    pub(crate) executor: u32,
    pub(crate) policy: u32,
}

impl Instance {
    pub(crate) fn is_skipped(self) -> bool {
        self.executor == NONE
    }
}

impl Blueprint {
    pub fn n_instances(&self) -> usize {
        self.instances.len()
    }

    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The uid of a node.
    pub fn node(&self, node: u32) -> Option<&str> {
        self.nodes.get(node as usize).map(|node| node.uid.as_str())
    }

    /// The number of the node with this uid.
    pub fn node_of_uid(&self, uid: &str) -> Option<u32> {
        self.nodes.iter().position(|node| node.uid == uid).map(|idx| idx as u32)
    }

    /// Task and node of an instance.
    pub fn names(&self, instance: u32) -> Option<(&str, &str)> {
        let instance = self.instances.get(instance as usize)?;
        Some((&self.tasks[instance.task as usize].name, &self.nodes[instance.node as usize].uid))
    }

    /// `task@node`, as plans write it.
    pub fn name(&self, instance: u32) -> String {
        self.names(instance).map_or_else(String::new, |(task, node)| format!("{task}@{node}"))
    }

    /// The node an instance belongs to.
    pub fn node_of(&self, instance: u32) -> Option<u32> {
        self.instances.get(instance as usize).map(|instance| instance.node)
    }

    /// The node whose agent carries an instance out; none if it is skipped.
    pub fn executor_of(&self, instance: u32) -> Option<u32> {
        self.instances.get(instance as usize).filter(|instance| !instance.is_skipped()).map(|it| it.executor)
    }

    /// How an instance is carried out; none if it is skipped.
    pub fn policy_of(&self, instance: u32) -> Option<&Policy> {
        let instance = self.instances.get(instance as usize).filter(|instance| !instance.is_skipped())?;
        self.policies.get(instance.policy as usize)
    }

    /// How many instances of a task may run at once.
    pub fn limit_of(&self, task: u32) -> Option<u32> {
        self.tasks.get(task as usize)?.limit.map(|limit| limit.n_max)
    }
}
