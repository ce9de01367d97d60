//! A simulated run.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use stoker_model::NodeIdx;

use crate::plan::{InstanceAction, Plan};

/// Longest remaining chain first, then by index.
type Priority = (Reverse<u64>, u32);

struct Task {
    n_free: u64,
    /// Ready instances that were blocked by the concurrency limit. Entries may be stale: started meanwhile,
    /// or their node is busy. Checked again when an instance of the task ends.
    blocked: BinaryHeap<Reverse<Priority>>,
}

struct Node {
    is_busy: bool,
    /// Instances whose predecessors have ended.
    ready: BTreeSet<Priority>,
}

struct Run<'r> {
    plan: &'r Plan,
    ms: &'r [u64],
    remaining: &'r [u64],
    /// Indexed by instance.
    task_of: Vec<u32>,
    node_of: Vec<NodeIdx>,
    tasks: Vec<Task>,
    nodes: Vec<Node>,
    /// For each vertex, the number of unfinished predecessors.
    n_before: Vec<u32>,
    now_ms: u64,
    /// Running instances by end time.
    running: BinaryHeap<Reverse<(u64, u32)>>,
}

/// The end time of the last instance.
pub(super) fn total_ms(plan: &Plan, ms: &[u64], remaining: &[u64]) -> u64 {
    let mut run = Run::new(plan, ms, remaining);
    let free: Vec<u32> = (0_u32..)
        .zip(&run.n_before)
        .filter(|(_, n_before)| **n_before == 0)
        .map(|(vertex, _)| vertex)
        .collect();
    run.make_ready(free);
    while let Some(Reverse((end_ms, idx))) = run.running.pop() {
        run.now_ms = end_ms;
        let mut ended = vec![idx];
        // Process all ends at this time before starting anything.
        while run.running.peek().is_some_and(|Reverse((at_ms, _))| *at_ms == end_ms) {
            ended.extend(run.running.pop().map(|Reverse((_, idx))| idx));
        }
        for idx in &ended {
            run.nodes[run.node_of[*idx as usize].index()].is_busy = false;
            run.tasks[run.task_of[*idx as usize] as usize].n_free += 1;
        }
        let freed = ended.iter().flat_map(|idx| run.finish(*idx)).collect();
        run.make_ready(freed);
        for idx in ended {
            run.start_on(run.node_of[idx as usize]);
            run.start_blocked(run.task_of[idx as usize]);
        }
    }
    run.now_ms
}

impl<'r> Run<'r> {
    fn new(plan: &'r Plan, ms: &'r [u64], remaining: &'r [u64]) -> Self {
        let mut n_before = vec![0; plan.order.n_vertices()];
        for (_, to) in plan.order.edges() {
            n_before[to as usize] += 1;
        }
        let (mut task_of, mut node_of) = (Vec::with_capacity(ms.len()), Vec::with_capacity(ms.len()));
        for (task_idx, task) in (0_u32..).zip(&plan.tasks) {
            task_of.extend(task.nodes.iter().map(|_| task_idx));
            node_of.extend_from_slice(&task.nodes);
        }
        let task = |task: &crate::plan::PlannedTask| {
            let limits = task.details.iter().filter_map(crate::plan::Details::concurrency);
            Task { n_free: limits.min().unwrap_or(u64::MAX / 2), blocked: BinaryHeap::new() }
        };
        Self {
            plan,
            ms,
            remaining,
            task_of,
            node_of,
            tasks: plan.tasks.iter().map(task).collect(),
            nodes: plan.nodes.iter().map(|_| Node { is_busy: false, ready: BTreeSet::new() }).collect(),
            n_before,
            now_ms: 0,
            running: BinaryHeap::new(),
        }
    }

    /// Marks a vertex as finished; returns the vertices that become ready.
    fn finish(&mut self, vertex: u32) -> Vec<u32> {
        let mut freed = Vec::new();
        for target in self.plan.order.targets(vertex) {
            let n_before = &mut self.n_before[*target as usize];
            *n_before -= 1;
            if *n_before == 0 {
                freed.push(*target);
            }
        }
        freed
    }

    /// Finishes skipped instances and junctions immediately; makes the others ready and starts them if
    /// possible.
    fn make_ready(&mut self, mut freed: Vec<u32>) {
        let mut nodes = BTreeSet::new();
        while let Some(vertex) = freed.pop() {
            let instance = self.plan.verdicts.get(vertex as usize);
            if instance.is_none_or(|verdict| verdict.action() == InstanceAction::Skip) {
                let ready = self.finish(vertex);
                freed.extend(ready);
                continue;
            }
            let node_idx = self.node_of[vertex as usize];
            self.nodes[node_idx.index()].ready.insert((Reverse(self.remaining[vertex as usize]), vertex));
            nodes.insert(node_idx);
        }
        for node_idx in nodes {
            self.start_on(node_idx);
        }
    }

    /// Starts the first ready instance on a node whose task is below its concurrency limit.
    fn start_on(&mut self, node_idx: NodeIdx) {
        let node = &self.nodes[node_idx.index()];
        if node.is_busy {
            return;
        }
        let mut first = None;
        for priority in &node.ready {
            let task = &mut self.tasks[self.task_of[priority.1 as usize] as usize];
            if task.n_free > 0 {
                first = Some(*priority);
                break;
            }
            task.blocked.push(Reverse(*priority));
        }
        if let Some(priority) = first {
            self.start(priority);
        }
    }

    /// Starts blocked instances of a task, as far as its concurrency limit allows.
    fn start_blocked(&mut self, task_idx: u32) {
        while self.tasks[task_idx as usize].n_free > 0 {
            let Some(Reverse(priority)) = self.tasks[task_idx as usize].blocked.pop() else { return };
            let node = &self.nodes[self.node_of[priority.1 as usize].index()];
            if !node.is_busy && node.ready.contains(&priority) {
                self.start(priority);
            }
        }
    }

    fn start(&mut self, priority: Priority) {
        let idx = priority.1;
        let node = &mut self.nodes[self.node_of[idx as usize].index()];
        node.ready.remove(&priority);
        node.is_busy = true;
        self.tasks[self.task_of[idx as usize] as usize].n_free -= 1;
        self.running.push(Reverse((self.now_ms.saturating_add(self.ms[idx as usize]), idx)));
    }
}
