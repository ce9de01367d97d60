//! The plan: an immutable value.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stoker_graph::Csr;
use stoker_model::{InstanceIdx, Json, NodeIdx};

/// Which task instances run, on which nodes, and in which order.
///
/// Instances are numbered by task name and then by node. The master and the virtual node of stages come after
/// all other nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Uids; the last two are `master` and `sync`.
    pub nodes: Arc<[String]>,
    /// Tasks sorted by name. Groups are not included, because they never run.
    pub tasks: Vec<PlannedTask>,
    pub groups: Vec<FaultToleranceGroup>,
    /// The node chosen for each relation with `policy: any`.
    pub choices: Vec<NodeChoice>,
    pub(crate) verdicts: Vec<Verdict>,
    /// For each instance, its details; `None` if it is skipped.
    pub(crate) details: Vec<Option<DetailsIdx>>,
    /// Edges from an instance to those that run after it. Vertices beyond the instances are junctions, see
    /// `order_builder.rs`.
    pub(crate) order: Csr,
    /// Edges from an instance to the handlers that its changes trigger, with junctions of their own.
    pub(crate) triggers: Option<Csr>,
}

/// Index into [`PlannedTask::details`]. An absent one takes no more memory: a plan has millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DetailsIdx(NonZeroU32);

impl DetailsIdx {
    pub const fn at(position: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(position as u32))
    }

    pub const fn index(self) -> usize {
        self.get() as usize
    }

    pub const fn get(self) -> u32 {
        self.0.get() - 1
    }

    /// Returns the number in stored plans, where 0 stands for no details.
    pub(crate) fn stored(details: Option<Self>) -> u32 {
        details.map_or(0, |idx| idx.0.get())
    }

    pub(crate) fn of_stored(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlannedTask {
    pub name: String,
    /// Indices into [`Plan::nodes`], ascending.
    pub nodes: Arc<[NodeIdx]>,
    /// Index of its first instance.
    pub first: InstanceIdx,
    /// Details for executors; several instances may share an entry.
    pub details: Vec<Details>,
}

/// Everything an executor needs to run an instance; fully evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Details {
    pub task_type: String,
    pub parameters: Json,
    pub fail_on_error: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultToleranceGroup {
    pub name: String,
    /// UIDs of the nodes of the group.
    pub nodes: Vec<String>,
    /// Maximum number of them that may fail.
    #[serde(rename = "tolerated")]
    pub max_failed: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeChoice {
    pub task: String,
    /// The task name or pattern in the relation.
    pub name: String,
    /// The chosen node.
    pub node: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstanceAction {
    Run,
    Skip,
}

impl InstanceAction {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Skip => "skip",
        }
    }
}

/// Why an instance runs or is skipped, as an enumeration. [`crate::Explainer`] adds details about conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    NoCondition,
    ConditionHolds,
    ConditionFails,
    Stage,
    TypeSkipped,
    TaskNotSelected,
    OutsideSubgraph,
    GroupConditionFails,
    /// A handler that runs if a trigger that runs before it changes something.
    IfTriggered,
    /// A handler that was triggered in an earlier run and has not succeeded since.
    TriggerPending,
    /// A handler without a trigger that runs.
    NotTriggered,
}

impl Verdict {
    /// In the order of their numbers in stored plans.
    pub(crate) const ALL: [Self; 11] = [
        Self::NoCondition,
        Self::ConditionHolds,
        Self::ConditionFails,
        Self::Stage,
        Self::TypeSkipped,
        Self::TaskNotSelected,
        Self::OutsideSubgraph,
        Self::GroupConditionFails,
        Self::IfTriggered,
        Self::TriggerPending,
        Self::NotTriggered,
    ];

    pub const fn action(self) -> InstanceAction {
        match self {
            Self::NoCondition | Self::ConditionHolds | Self::IfTriggered | Self::TriggerPending => {
                InstanceAction::Run
            }
            _ => InstanceAction::Skip,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCondition => "the task has no condition",
            Self::ConditionHolds => "the condition is true",
            Self::ConditionFails => "the condition is false",
            Self::Stage => "a stage is a synchronization point and runs nothing",
            Self::TypeSkipped => "the task type is `skipped`",
            Self::TaskNotSelected => "the task is not selected",
            Self::OutsideSubgraph => "the task is outside the selected subgraph",
            Self::GroupConditionFails => "the condition of its group is false",
            Self::IfTriggered => "it runs if one of its triggers changes something",
            Self::TriggerPending => "one of its triggers changed something, and it has not succeeded since",
            Self::NotTriggered => "none of its triggers runs",
        })
    }
}

/// A task instance: a task on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance<'p> {
    pub idx: InstanceIdx,
    pub task: &'p str,
    pub node: &'p str,
    pub verdict: Verdict,
}

impl fmt::Display for Instance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.task, self.node)
    }
}

impl PlannedTask {
    /// Instances of the task, and their nodes.
    pub fn instances(&self) -> impl Iterator<Item = (InstanceIdx, NodeIdx)> {
        let first = self.first.index();
        self.nodes
            .iter()
            .enumerate()
            .map(move |(position, node_idx)| (InstanceIdx::at(first + position), *node_idx))
    }
}

impl Plan {
    pub fn n_instances(&self) -> usize {
        self.verdicts.len()
    }

    /// Number of vertices, junctions included, and of stored edges.
    pub fn order_size(&self) -> (usize, usize) {
        (self.order.n_vertices(), self.order.n_edges())
    }

    /// Edges from an instance to those that run after it. Vertices beyond the instances are junctions: an
    /// edge to a junction stands for edges to all targets of the junction.
    pub fn order(&self) -> &Csr {
        &self.order
    }

    /// Edges from an instance to the handlers that its changes trigger. Vertices beyond the instances are junctions.
    /// `None` if there are no handlers.
    pub fn triggers(&self) -> Option<&Csr> {
        self.triggers.as_ref()
    }

    pub fn instances(&self) -> impl Iterator<Item = Instance<'_>> {
        self.tasks.iter().flat_map(|task| self.instances_of(task))
    }

    /// The instances of one of the plan's tasks.
    pub fn instances_of<'p>(&'p self, task: &'p PlannedTask) -> impl Iterator<Item = Instance<'p>> {
        task.instances().map(|(idx, node_idx)| Instance {
            idx,
            task: &task.name,
            node: &self.nodes[node_idx.index()],
            verdict: self.verdicts[idx.index()],
        })
    }

    pub fn instance(&self, idx: InstanceIdx) -> Option<Instance<'_>> {
        let verdict = *self.verdicts.get(idx.index())?;
        let task = &self.tasks[self.task_of(idx)];
        let node_idx = task.nodes[idx.index() - task.first.index()];
        Some(Instance { idx, task: &task.name, node: &self.nodes[node_idx.index()], verdict })
    }

    /// The index of an instance's details among those of its task; `None` if the instance is skipped.
    pub fn details_idx(&self, idx: InstanceIdx) -> Option<DetailsIdx> {
        self.details.get(idx.index()).copied().flatten()
    }

    /// The details to execute; `None` if the instance is skipped.
    pub fn details(&self, idx: InstanceIdx) -> Option<&Details> {
        let details_idx = self.details_idx(idx)?;
        self.tasks[self.task_of(idx)].details.get(details_idx.index())
    }

    fn task_of(&self, idx: InstanceIdx) -> usize {
        self.tasks.partition_point(|task| task.first <= idx) - 1
    }

    /// Pairs of instances, the first before the second, with junctions expanded. Sorted by the first, without
    /// duplicates.
    pub fn edges(&self) -> impl Iterator<Item = (InstanceIdx, InstanceIdx)> {
        let n_instances = self.verdicts.len() as u32;
        (0..n_instances).flat_map(move |from| {
            let mut targets = Vec::new();
            for target in self.order.targets(from) {
                if *target < n_instances {
                    targets.push(*target);
                } else {
                    targets.extend_from_slice(self.order.targets(*target));
                }
            }
            targets.sort_unstable();
            targets.dedup();
            targets.into_iter().map(move |to| (InstanceIdx::new(from), InstanceIdx::new(to)))
        })
    }
}
