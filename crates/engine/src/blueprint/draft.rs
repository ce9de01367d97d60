//! Unvalidated input of a blueprint, as plain arrays.

use stoker_graph::Csr;
use stoker_model::{NodeIdx, TaskIdx};

use super::handlers::Handlers;
use super::options::ExecutionOptions;
use super::policy::Policy;

/// A blueprint before validation.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Node uids.
    pub nodes: Vec<String>,
    /// Index of the virtual node that stages belong to.
    pub sync: Option<NodeIdx>,
    /// Task names.
    pub tasks: Vec<String>,
    pub instances: Vec<DraftInstance>,
    /// Dependencies. Vertices after the instances are junctions: they let one set of instances wait for another
    /// without an edge for each pair.
    pub order: Csr,
    /// Tolerance groups. Nodes that are in none of them must not fail.
    pub groups: Vec<Group>,
    pub handlers: Handlers,
    /// Expected duration of each instance, in any unit; empty if unknown.
    pub durations: Vec<u32>,
    pub options: ExecutionOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftInstance {
    pub task: TaskIdx,
    pub node: NodeIdx,
    /// Work of the instance; `None` if it is skipped.
    pub work: Option<DraftWork>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftWork {
    /// Node whose agent executes the instance.
    pub executor: NodeIdx,
    pub policy: Policy,
    /// Maximum number of instances of the task that run concurrently. The smallest limit of any instance with
    /// work applies to the whole task.
    pub limit: Option<u32>,
}

/// Tolerance group: a set of nodes of which a limited number may fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    pub nodes: Vec<NodeIdx>,
    /// Number of nodes that may fail; 0 makes the group critical.
    pub tolerated: u64,
}
