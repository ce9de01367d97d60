//! Priority queues of ready instances.
//!
//! Instances are ordered by rank. Instances of unlimited tasks are queued per node. Instances of limited
//! tasks are also queued per task, so that a free slot of the task finds the most urgent one without visiting
//! every node. `heads` holds the candidates to start now: at most one instance per free node and one per task
//! with a free slot.

use std::collections::BTreeSet;

use stoker_model::{InstanceIdx, NodeIdx};

use crate::blueprint::{ApplyKey, Blueprint};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ready {
    nodes: Vec<NodeQueue>,
    /// Queues of tasks with a concurrency limit.
    tasks: Vec<TaskQueue>,
    heads: BTreeSet<ApplyKey>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct NodeQueue {
    is_free: bool,
    unlimited: BTreeSet<ApplyKey>,
    limited: BTreeSet<ApplyKey>,
    head: Option<ApplyKey>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct TaskQueue {
    /// Instances whose node is free.
    waiting: BTreeSet<ApplyKey>,
    n_running: u32,
    n_max: u32,
    head: Option<ApplyKey>,
}

impl Ready {
    pub(super) fn new(blueprint: &Blueprint) -> Self {
        let limits = blueprint.tasks.iter().filter_map(|task| task.limit);
        Self {
            nodes: vec![NodeQueue { is_free: true, ..NodeQueue::default() }; blueprint.nodes.len()],
            tasks: limits.map(|limit| TaskQueue { n_max: limit.n_max, ..TaskQueue::default() }).collect(),
            heads: BTreeSet::new(),
        }
    }

    /// Returns the most urgent instance that may start.
    pub(super) fn best(&self, blueprint: &Blueprint) -> Option<InstanceIdx> {
        self.heads.first().map(|rank| blueprint.by_rank[rank.index()])
    }

    pub(super) fn insert(&mut self, blueprint: &Blueprint, idx: InstanceIdx) {
        let (rank, node) = (blueprint.rank[idx.index()], blueprint.instances[idx.index()].node);
        let queue = &mut self.nodes[node.index()];
        match limited_idx(blueprint, idx) {
            None => {
                queue.unlimited.insert(rank);
                self.refresh_node(node);
            }
            Some(task) => {
                queue.limited.insert(rank);
                if queue.is_free {
                    self.tasks[task as usize].waiting.insert(rank);
                    self.refresh_task(task);
                }
            }
        }
    }

    pub(super) fn remove(&mut self, blueprint: &Blueprint, idx: InstanceIdx) {
        let (rank, node) = (blueprint.rank[idx.index()], blueprint.instances[idx.index()].node);
        let queue = &mut self.nodes[node.index()];
        match limited_idx(blueprint, idx) {
            None => {
                queue.unlimited.remove(&rank);
                self.refresh_node(node);
            }
            Some(task) => {
                queue.limited.remove(&rank);
                self.tasks[task as usize].waiting.remove(&rank);
                self.refresh_task(task);
            }
        }
    }

    /// Sets whether a node can start an instance.
    pub(super) fn set_free(&mut self, blueprint: &Blueprint, node: NodeIdx, is_free: bool) {
        let queue = &mut self.nodes[node.index()];
        if queue.is_free == is_free {
            return;
        }
        queue.is_free = is_free;
        self.refresh_node(node);
        // The loop has at most as many iterations as there are tasks with a limit.
        for rank in self.nodes[node.index()].limited.clone() {
            let Some(task) = limited_idx(blueprint, blueprint.by_rank[rank.index()]) else { continue };
            let waiting = &mut self.tasks[task as usize].waiting;
            if is_free {
                waiting.insert(rank)
            } else {
                waiting.remove(&rank)
            };
            self.refresh_task(task);
        }
    }

    /// Takes or releases a slot of the instance's task.
    pub(super) fn occupy(&mut self, blueprint: &Blueprint, idx: InstanceIdx, takes_slot: bool) {
        let Some(task) = limited_idx(blueprint, idx) else { return };
        let queue = &mut self.tasks[task as usize];
        queue.n_running = if takes_slot { queue.n_running + 1 } else { queue.n_running.saturating_sub(1) };
        self.refresh_task(task);
    }

    /// Returns all ready instances of a node.
    pub(super) fn of_node(&self, blueprint: &Blueprint, node: NodeIdx) -> Vec<InstanceIdx> {
        let queue = &self.nodes[node.index()];
        let ranks = queue.unlimited.iter().chain(&queue.limited);
        ranks.map(|rank| blueprint.by_rank[rank.index()]).collect()
    }

    fn refresh_node(&mut self, node: NodeIdx) {
        let queue = &mut self.nodes[node.index()];
        let head = if queue.is_free { queue.unlimited.first().copied() } else { None };
        replace_head(&mut self.heads, &mut queue.head, head);
    }

    fn refresh_task(&mut self, task: u32) {
        let queue = &mut self.tasks[task as usize];
        let head = if queue.n_running < queue.n_max { queue.waiting.first().copied() } else { None };
        replace_head(&mut self.heads, &mut queue.head, head);
    }
}

fn replace_head(heads: &mut BTreeSet<ApplyKey>, old: &mut Option<ApplyKey>, new: Option<ApplyKey>) {
    if *old == new {
        return;
    }
    if let Some(rank) = std::mem::replace(old, new) {
        heads.remove(&rank);
    }
    heads.extend(new);
}

fn limited_idx(blueprint: &Blueprint, idx: InstanceIdx) -> Option<u32> {
    let task = blueprint.instances[idx.index()].task;
    blueprint.tasks[task.index()].limit.map(|limit| limit.idx)
}
