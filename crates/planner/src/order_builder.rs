//! Builds edges between instances from relations between tasks.
//!
//! A relation between two sets of instances would need an edge for each pair. Instead both sets are connected
//! through a junction vertex, so that the number of edges is the sum of both sizes.

use std::collections::{BTreeMap, HashMap, HashSet};

use stoker_graph::Csr;
use stoker_model::{NodeIdx, TaskIdx};

use crate::node_sets::{NodeSet, NodeSets, common};

/// Index of an instance or a junction; junctions come after all instances.
pub(crate) type Vertex = u32;

/// The nodes of each task, and the numbering of instances.
#[derive(Debug)]
pub(crate) struct Layout {
    /// For each task, the nodes it is on.
    pub(crate) nodes: Vec<NodeSet>,
    /// For each task, its first instance; with the total number as an additional last entry.
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

    /// The instances of a task on a subset of its nodes.
    fn instances<'l>(&'l self, task_idx: TaskIdx, nodes: &'l [NodeIdx]) -> impl Iterator<Item = Vertex> + 'l {
        let (own, first) = (&self.nodes[task_idx.index()], self.first[task_idx.index()]);
        let is_all = own.len() == nodes.len();
        let mut at = 0;
        nodes.iter().enumerate().map(move |(position, node_idx)| {
            if is_all {
                return first + position as Vertex;
            }
            at += own[at..].partition_point(|other| other < node_idx);
            first + at as Vertex
        })
    }
}

/// The instances of a task on some nodes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Instances {
    pub(crate) task_idx: TaskIdx,
    pub(crate) nodes: NodeSet,
}

pub(crate) struct OrderBuilder<'l> {
    layout: &'l Layout,
    edges: Vec<(Vertex, Vertex)>,
    /// For each source set, the junction that its successors are connected to.
    junctions: HashMap<Instances, Vertex>,
    n_vertices: u32,
    /// Pairs of sets that are already connected.
    connected: HashSet<(Instances, Instances)>,
    /// Pairs of tasks that are already connected on these nodes.
    connected_on_node: HashSet<(TaskIdx, TaskIdx, NodeSet)>,
    /// The node chosen for `policy: any`, by task and name in the relation.
    pub(crate) choices: BTreeMap<(TaskIdx, String), NodeIdx>,
}

impl<'l> OrderBuilder<'l> {
    pub(crate) fn new(layout: &'l Layout) -> Self {
        Self {
            layout,
            edges: Vec::new(),
            junctions: HashMap::new(),
            n_vertices: layout.n_instances(),
            connected: HashSet::new(),
            connected_on_node: HashSet::new(),
            choices: BTreeMap::new(),
        }
    }

    pub(crate) fn finish(self) -> Csr {
        Csr::new(self.n_vertices as usize, self.edges)
    }

    /// Orders two tasks on each of these nodes that has both.
    pub(crate) fn add_same_node(
        &mut self,
        before: TaskIdx,
        after: TaskIdx,
        nodes: &[NodeIdx],
        node_sets: &mut NodeSets<'_>,
    ) {
        if before == after {
            return;
        }
        let both = common(&self.layout.nodes[before.index()], nodes);
        let both = common(&self.layout.nodes[after.index()], &both);
        let both = node_sets.set_of(&both);
        if self.connected_on_node.insert((before, after, both.clone())) {
            let pairs = self.layout.instances(before, &both).zip(self.layout.instances(after, &both));
            self.edges.extend(pairs);
        }
    }

    /// Orders all instances of one task on some nodes before those of another on other nodes. An instance
    /// never depends on itself.
    pub(crate) fn add_across(&mut self, before: Instances, after: &Instances, node_sets: &mut NodeSets<'_>) {
        if before.task_idx != after.task_idx {
            self.connect(before, after);
            return;
        }
        let of_task = |nodes: NodeSet| Instances { task_idx: after.task_idx, nodes };
        let both = common(&before.nodes, &after.nodes);
        let others = without(&after.nodes, &both);
        self.connect(before.clone(), &of_task(node_sets.set_of(&others)));
        // Two instances in both sets already form a cycle, which is reported; more of them add no
        // information.
        for node_idx in both.iter().take(2) {
            let others = without(&before.nodes, &[*node_idx]);
            self.connect(of_task(node_sets.set_of(&others)), &of_task(node_sets.set(vec![*node_idx])));
        }
    }

    fn connect(&mut self, before: Instances, after: &Instances) {
        let (n_before, n_after) = (before.nodes.len(), after.nodes.len());
        if n_before == 0 || n_after == 0 {
            return;
        }
        if !self.connected.insert((before.clone(), after.clone())) {
            return;
        }
        let layout = self.layout;
        if n_before * n_after <= n_before + n_after {
            for from in layout.instances(before.task_idx, &before.nodes) {
                self.edges.extend(layout.instances(after.task_idx, &after.nodes).map(|to| (from, to)));
            }
            return;
        }
        let junction = self.junction(before);
        self.edges.extend(layout.instances(after.task_idx, &after.nodes).map(|to| (junction, to)));
    }

    fn junction(&mut self, before: Instances) -> Vertex {
        if let Some(junction) = self.junctions.get(&before) {
            return *junction;
        }
        let junction = self.n_vertices;
        self.n_vertices += 1;
        self.edges.extend(self.layout.instances(before.task_idx, &before.nodes).map(|from| (from, junction)));
        self.junctions.insert(before, junction);
        junction
    }
}

fn without(nodes: &[NodeIdx], excluded: &[NodeIdx]) -> Vec<NodeIdx> {
    nodes.iter().filter(|node| excluded.binary_search(node).is_err()).copied().collect()
}
