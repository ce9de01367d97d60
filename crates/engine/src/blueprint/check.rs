//! Validation of a draft: it becomes a blueprint, or all of its defects are reported.

use std::collections::HashMap;
use std::fmt;

use stoker_model::{GroupIdx, InstanceIdx, NodeIdx, VertexIdx};

use super::draft::{Draft, DraftInstance, Group};
use super::policy::Policy;
use super::weights::ranks;
use super::{Blueprint, Instance, InstanceWork, Limit, Node, PolicyIdx, Task, ZERO_TOLERANCE};

/// Reason why a run cannot be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    UnknownType {
        task: String,
        task_type: String,
    },
    /// `parameters.strategy` of a task.
    InvalidStrategy {
        task: String,
        node: String,
        value: String,
    },
    /// Another invalid parameter that the engine reads.
    InvalidParameter {
        task: String,
        node: String,
        name: &'static str,
        value: String,
        expected: &'static str,
    },
    /// A dependency cycle; the first instance is repeated at the end.
    Cycle {
        instances: Vec<String>,
    },
    /// An instance with work on the sync node, which has no agent.
    NoAgent {
        instance: String,
    },
    /// An instance with work on the master in a plan without the master.
    NoMaster {
        instance: String,
    },
    ZeroConcurrency,
    /// Invalid number or percentage of nodes that may fail.
    InvalidTolerance {
        value: String,
    },
    /// An index out of range: a bug in the code that built the draft.
    IndexOutOfRange {
        what: &'static str,
        idx: u32,
    },
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownType { task, task_type } => {
                write!(f, "task `{task}` has the unknown type `{task_type}`")
            }
            Self::InvalidStrategy { task, node, value } => write!(
                f,
                "`parameters.strategy` of `{task}@{node}` is {value}; use `type: one_by_one`, or `type: parallel` with \
                 a non-negative integer as `amount`"
            ),
            Self::InvalidParameter { task, node, name, value, expected } => {
                write!(f, "`parameters.{name}` of `{task}@{node}` is {value}; it must be {expected}")
            }
            Self::Cycle { instances } => write!(f, "dependency cycle: {}", instances.join(" -> ")),
            Self::NoAgent { instance } => {
                write!(f, "`{instance}` cannot run: the sync node has no agent")
            }
            Self::NoMaster { instance } => {
                write!(f, "`{instance}` runs on the master, which is not in the plan")
            }
            Self::ZeroConcurrency => f.write_str("`nodes_at_once` is 0; it must be at least 1"),
            Self::InvalidTolerance { value } => {
                write!(
                    f,
                    "`fault_tolerance` is `{value}`; use a number of nodes, or a percentage such as `10%`"
                )
            }
            Self::IndexOutOfRange { what, idx } => write!(f, "{what} index {idx} is out of range"),
        }
    }
}

impl Blueprint {
    /// Validates a draft. Reports all defects.
    pub fn new(draft: Draft) -> Result<Self, Vec<Defect>> {
        let defects = check_indices(&draft);
        // The other checks index with these numbers, so they would panic.
        if !defects.is_empty() {
            return Err(defects);
        }
        let mut defects = Vec::new();
        if draft.options.max_concurrent_nodes == 0 {
            defects.push(Defect::ZeroConcurrency);
        }
        let name = |idx: InstanceIdx| {
            let instance = &draft.instances[idx.index()];
            format!("{}@{}", draft.tasks[instance.task.index()], draft.nodes[instance.node.index()])
        };
        for (idx, instance) in InstanceIdx::first(draft.instances.len()).zip(&draft.instances) {
            if instance.work.as_ref().is_some_and(|work| Some(work.executor) == draft.sync) {
                defects.push(Defect::NoAgent { instance: name(idx) });
            }
        }
        for component in draft.order.cyclic_components() {
            let cycle = draft.order.shortest_cycle(&component);
            let instance = |vertex| VertexIdx::new(vertex).instance(draft.instances.len());
            let instances = cycle.into_iter().filter_map(instance).map(name).collect();
            defects.push(Defect::Cycle { instances });
        }
        if defects.is_empty() { Ok(build(draft)) } else { Err(defects) }
    }
}

fn check_indices(draft: &Draft) -> Vec<Defect> {
    let (n_nodes, n_tasks) = (draft.nodes.len() as u32, draft.tasks.len() as u32);
    let mut defects = Vec::new();
    let mut check = |what, idx: u32, n: u32| {
        if idx >= n {
            defects.push(Defect::IndexOutOfRange { what, idx });
        }
    };
    for instance in &draft.instances {
        check("task", instance.task.get(), n_tasks);
        check("node", instance.node.get(), n_nodes);
        if let Some(work) = &instance.work {
            check("node", work.executor.get(), n_nodes);
        }
    }
    for node in draft.groups.iter().flat_map(|group| &group.nodes).chain(&draft.sync) {
        check("node", node.get(), n_nodes);
    }
    // Handlers are stored apart from the order, but number the same instances.
    let n_instances = draft.instances.len() as u32;
    for idx in &draft.handlers.only_triggered {
        check("handler", idx.get(), n_instances);
    }
    if let Some(triggers) = &draft.handlers.triggers
        && n_instances > 0
    {
        check("trigger", n_instances - 1, triggers.n_vertices() as u32);
    }
    // One duration per instance, and one vertex per instance.
    if n_instances > 0 {
        check("vertex", n_instances - 1, draft.order.n_vertices() as u32);
        if !draft.durations.is_empty() {
            check("duration", n_instances - 1, draft.durations.len() as u32);
        }
    }
    defects
}

fn build(draft: Draft) -> Blueprint {
    let (rank, by_rank) = ranks(&draft);
    let groups = groups(&draft);
    let nodes = nodes(&draft, &groups);
    let tasks = tasks(&draft);
    let n_limited = tasks.iter().filter(|task| task.limit.is_some()).count() as u32;
    let (instances, policies) = instances(&draft.instances);
    let mut n_before = vec![0; draft.order.n_vertices()];
    for (_, to) in draft.order.edges() {
        n_before[to as usize] += 1;
    }
    let (order, handlers, options) = (draft.order, draft.handlers, draft.options);
    Blueprint {
        nodes,
        tasks,
        instances,
        policies,
        order,
        n_before,
        rank,
        by_rank,
        groups,
        handlers,
        n_limited,
        options,
    }
}

fn groups(draft: &Draft) -> Vec<Group> {
    let mut is_in_group = vec![false; draft.nodes.len()];
    for node in draft.groups.iter().flat_map(|group| &group.nodes).chain(&draft.sync) {
        is_in_group[node.index()] = true;
    }
    let ungrouped = NodeIdx::first(draft.nodes.len()).filter(|node| !is_in_group[node.index()]).collect();
    let default = Group { name: ZERO_TOLERANCE.to_owned(), nodes: ungrouped, tolerated: 0 };
    let declared = draft.groups.iter().cloned().map(|mut group| {
        group.nodes.sort_unstable();
        group.nodes.dedup();
        group
    });
    declared.chain([default]).filter(|group| !group.nodes.is_empty()).collect()
}

fn nodes(draft: &Draft, groups: &[Group]) -> Vec<Node> {
    let mut nodes: Vec<Node> = NodeIdx::first(draft.nodes.len())
        .zip(&draft.nodes)
        .map(|(idx, uid)| Node {
            uid: uid.clone(),
            is_sync: draft.sync == Some(idx),
            n_instances: 0,
            groups: Vec::new(),
        })
        .collect();
    for instance in &draft.instances {
        nodes[instance.node.index()].n_instances += 1;
    }
    for (group_idx, group) in GroupIdx::first(groups.len()).zip(groups) {
        for node in &group.nodes {
            nodes[node.index()].groups.push(group_idx);
        }
    }
    nodes
}

fn tasks(draft: &Draft) -> Vec<Task> {
    let mut smallest: Vec<Option<u32>> = vec![None; draft.tasks.len()];
    for instance in &draft.instances {
        // Zero means unlimited.
        if let Some(limit) = instance.work.as_ref().and_then(|work| work.limit).filter(|limit| *limit > 0) {
            let current = &mut smallest[instance.task.index()];
            *current = Some(current.map_or(limit, |current| current.min(limit)));
        }
    }
    let mut n_limited = 0;
    let limited_tasks = draft.tasks.iter().zip(smallest).map(|(name, n_max)| {
        let limit = n_max.map(|n_max| {
            n_limited += 1;
            Limit { idx: n_limited - 1, n_max }
        });
        Task { name: name.clone(), limit }
    });
    limited_tasks.collect()
}

fn instances(drafts: &[DraftInstance]) -> (Vec<Instance>, Vec<Policy>) {
    let (mut policies, mut policy_idx) = (Vec::new(), HashMap::new());
    let instances = drafts.iter().map(|draft| {
        let work = draft.work.as_ref().map(|work| {
            let policy = *policy_idx.entry(work.policy).or_insert_with(|| {
                policies.push(work.policy);
                PolicyIdx::at(policies.len() - 1)
            });
            InstanceWork { executor: work.executor, policy }
        });
        Instance { task: draft.task, node: draft.node, work }
    });
    (instances.collect(), policies)
}
