//! From relations between tasks to edges between instances.
//!
//! A relation between two sets of instances would be an edge for each pair. They meet in a vertex of their own instead,
//! so that there are as many edges as instances on both sides together.

use std::collections::{BTreeMap, HashMap, HashSet};

use stoker_graph::Csr;

use crate::compute::subjects::{NodeIdx, TaskIdx};
use crate::places::{NodeSet, Places, common};

/// Place of an instance, and of a vertex where relations meet: those come after all instances.
pub(crate) type Vertex = u32;

/// Where tasks are, and the numbers of their instances.
#[derive(Debug)]
pub(crate) struct Layout {
    /// By task the nodes it is on.
    pub(crate) nodes: Vec<NodeSet>,
    /// By task its first instance; one more at the end.
    pub(crate) first: Vec<Vertex>,
}

impl Layout {
    pub(crate) fn new(nodes: Vec<NodeSet>) -> Self {
        let mut first = vec![0];
        for set in &nodes {
            first.push(first[first.len() - 1] + set.len() as Vertex);
        }
        Self { nodes, first }
    }

    pub(crate) fn n_instances(&self) -> u32 {
        self.first[self.first.len() - 1]
    }

    /// The instances of a task on nodes that it is on.
    fn instances<'l>(&'l self, task_idx: TaskIdx, nodes: &'l [NodeIdx]) -> impl Iterator<Item = Vertex> + 'l {
        let (own, first) = (&self.nodes[task_idx as usize], self.first[task_idx as usize]);
        let is_all = own.len() == nodes.len();
        let mut at = 0;
        nodes.iter().enumerate().map(move |(place, node_idx)| {
            if is_all {
                return first + place as Vertex;
            }
            at += own[at..].partition_point(|other| other < node_idx);
            first + at as Vertex
        })
    }
}

pub(crate) struct Wiring<'l> {
    layout: &'l Layout,
    edges: Vec<(Vertex, Vertex)>,
    /// Where everything that comes after these instances meets.
    joins: HashMap<(TaskIdx, NodeSet), Vertex>,
    n_vertices: u32,
    /// What was written once already: pairs of sets of instances.
    done: HashSet<(TaskIdx, NodeSet, TaskIdx, NodeSet)>,
    /// The same for pairs on the same node.
    done_beside: HashSet<(TaskIdx, TaskIdx, NodeSet)>,
    /// Which node `policy: any` has chosen, by task and what it says.
    pub(crate) choices: BTreeMap<(TaskIdx, String), NodeIdx>,
}

impl<'l> Wiring<'l> {
    pub(crate) fn new(layout: &'l Layout) -> Self {
        Self {
            layout,
            edges: Vec::new(),
            joins: HashMap::new(),
            n_vertices: layout.n_instances(),
            done: HashSet::new(),
            done_beside: HashSet::new(),
            choices: BTreeMap::new(),
        }
    }

    pub(crate) fn finish(self) -> Csr {
        Csr::new(self.n_vertices as usize, self.edges)
    }

    /// On each of these nodes one task before another, if both are there.
    pub(crate) fn beside(
        &mut self,
        before: TaskIdx,
        after: TaskIdx,
        nodes: &[NodeIdx],
        places: &mut Places<'_>,
    ) {
        if before == after {
            return;
        }
        let both = common(&self.layout.nodes[before as usize], nodes);
        let both = common(&self.layout.nodes[after as usize], &both);
        let both = places.set_of(&both);
        if self.done_beside.insert((before, after, both.clone())) {
            let pairs = self.layout.instances(before, &both).zip(self.layout.instances(after, &both));
            self.edges.extend(pairs);
        }
    }

    /// All instances of one task on some nodes before all of another on others. No instance waits for itself.
    pub(crate) fn across(
        &mut self,
        before: (TaskIdx, NodeSet),
        after: &(TaskIdx, NodeSet),
        places: &mut Places<'_>,
    ) {
        if before.0 != after.0 {
            self.connect(before, after);
            return;
        }
        let task_idx = before.0;
        let both = common(&before.1, &after.1);
        let others = without(&after.1, &both);
        self.connect(before.clone(), &(task_idx, places.set_of(&others)));
        // Two instances on both sides wait for each other already; more of them would say nothing new.
        for node_idx in both.iter().take(2) {
            let others = without(&before.1, &[*node_idx]);
            self.connect((task_idx, places.set_of(&others)), &(task_idx, places.set(vec![*node_idx])));
        }
    }

    fn connect(&mut self, before: (TaskIdx, NodeSet), after: &(TaskIdx, NodeSet)) {
        let (n_before, n_after) = (before.1.len(), after.1.len());
        if n_before == 0 || n_after == 0 {
            return;
        }
        if !self.done.insert((before.0, before.1.clone(), after.0, after.1.clone())) {
            return;
        }
        let layout = self.layout;
        if n_before * n_after <= n_before + n_after {
            for from in layout.instances(before.0, &before.1) {
                self.edges.extend(layout.instances(after.0, &after.1).map(|to| (from, to)));
            }
            return;
        }
        let join = self.join(before);
        self.edges.extend(layout.instances(after.0, &after.1).map(|to| (join, to)));
    }

    fn join(&mut self, before: (TaskIdx, NodeSet)) -> Vertex {
        if let Some(known) = self.joins.get(&before) {
            return *known;
        }
        let join = self.n_vertices;
        self.n_vertices += 1;
        self.edges.extend(self.layout.instances(before.0, &before.1).map(|from| (from, join)));
        self.joins.insert(before, join);
        join
    }
}

fn without(nodes: &[NodeIdx], excluded: &[NodeIdx]) -> Vec<NodeIdx> {
    nodes.iter().filter(|node| excluded.binary_search(node).is_err()).copied().collect()
}
