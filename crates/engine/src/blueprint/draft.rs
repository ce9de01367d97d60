//! The plain arrays a blueprint is made of.

use stoker_graph::Csr;

use super::options::Options;
use super::policy::Policy;

/// A blueprint that nobody has looked at yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Uids.
    pub nodes: Vec<String>,
    /// The place of stages among the nodes.
    pub sync: Option<u32>,
    /// Names.
    pub tasks: Vec<String>,
    pub instances: Vec<DraftInstance>,
    /// What is before what. Vertices beyond the instances are where sets meet.
    pub order: Csr,
    /// Nodes in none of them may not fail at all.
    pub groups: Vec<Group>,
    /// By instance how long it is expected to take, in any unit; empty: all the same.
    pub durations: Vec<u32>,
    pub options: Options,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftInstance {
    pub task: u32,
    pub node: u32,
    /// None: it is skipped.
    pub work: Option<Work>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The node whose agent does it.
    pub executor: u32,
    pub policy: Policy,
    /// How many instances of the task may run at once, as this one has it. The smallest that any instance has counts
    /// for all of them; instances that are skipped have no say.
    pub limit: Option<u32>,
}

/// Nodes of which some may fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    /// Places in the list of nodes.
    pub nodes: Vec<u32>,
    /// How many of them may fail. None: the group is critical.
    pub tolerated: u64,
}
