//! Synthetic cluster for checking a graph: one node per named role or tag, the master, and the virtual node
//! of stages.
//!
//! A dependency between tasks is a dependency between their instances: `requires` applies on one node only,
//! so definitions that require each other cyclically are harmless as long as no node has all of them. In the
//! synthetic cluster every task is on the nodes where its definition places it, and no node has two roles. A
//! cycle here therefore exists in every cluster with these roles. A dependency between two sets of nodes
//! goes through a junction vertex, so it needs m + n edges instead of m × n.

use std::collections::{BTreeSet, HashMap};

use stoker_model::{NodeIdx, TaskIdx, VertexIdx};

use super::Subject;
use super::budget::{Budget, COMPILE_STEPS};
use super::links::{Link, TargetNodes};
use super::names::Names;
use super::placement::Placement;
use crate::csr::Csr;
use crate::pattern::NamePattern;

pub(super) struct SyntheticCluster<'a> {
    /// Names of the ordinary nodes. The indices of the master and of the virtual node of stages follow.
    nodes: Vec<&'a str>,
    /// For each task, its nodes in ascending order.
    nodes_of: Vec<Vec<NodeIdx>>,
    /// For each task, its first vertex; with the total number as an additional last entry.
    first_vertex: Vec<usize>,
}

/// A task on a node of the synthetic cluster.
pub(super) struct SyntheticInstance {
    pub(super) task: TaskIdx,
    pub(super) node: NodeIdx,
}

impl<'a> SyntheticCluster<'a> {
    pub(super) fn new(subject: &Subject<'_, 'a>, budget: &mut Budget) -> Self {
        let placement: Vec<Placement<'a>> =
            subject.tasks().map(|(task_idx, _)| subject.placement_of(task_idx)).collect();
        let mut cluster =
            Self { nodes: node_names(&placement, budget), nodes_of: Vec::new(), first_vertex: vec![0] };
        let mut nodes_by_name = HashMap::new();
        for (definition, placement) in subject.definitions.iter().zip(&placement) {
            let nodes = match definition {
                definition if definition.is_group() => Vec::new(),
                definition if definition.is_stage() => vec![cluster.sync()],
                _ => cluster.resolve(placement, &mut nodes_by_name, budget),
            };
            cluster.first_vertex.push(cluster.n_instances() + nodes.len());
            cluster.nodes_of.push(nodes);
        }
        cluster
    }

    fn master(&self) -> NodeIdx {
        NodeIdx::at(self.nodes.len())
    }

    fn sync(&self) -> NodeIdx {
        NodeIdx::at(self.nodes.len() + 1)
    }

    fn n_instances(&self) -> usize {
        self.first_vertex.last().copied().unwrap_or_default()
    }

    /// Returns the nodes that match a placement.
    fn resolve(
        &self,
        placement: &Placement<'a>,
        nodes_by_name: &mut HashMap<&'a str, Vec<NodeIdx>>,
        budget: &mut Budget,
    ) -> Vec<NodeIdx> {
        let mut nodes = Vec::new();
        // Each instance costs one step of the budget.
        if placement.everywhere && budget.spend(self.nodes.len() as u64) {
            nodes.extend(NodeIdx::first(self.nodes.len()));
        }
        nodes.extend(placement.master.then(|| self.master()));
        for name in &placement.targets {
            let matches = nodes_by_name.entry(name).or_insert_with(|| matching(&self.nodes, name, budget));
            if budget.spend(matches.len() as u64) {
                nodes.extend(matches.iter().copied());
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn vertex(&self, task_idx: TaskIdx, node: NodeIdx) -> Option<VertexIdx> {
        let at = self.nodes_of[task_idx.index()].binary_search(&node).ok()?;
        Some(self.vertex_at(task_idx, at))
    }

    /// Returns the vertex of a task on its node at a position.
    fn vertex_at(&self, task_idx: TaskIdx, position: usize) -> VertexIdx {
        VertexIdx::at(self.first_vertex[task_idx.index()] + position)
    }

    /// Returns the instance of a vertex; `None` for a junction.
    pub(super) fn instance(&self, vertex: VertexIdx) -> Option<SyntheticInstance> {
        let vertex = vertex.index();
        if vertex >= self.n_instances() {
            return None;
        }
        let task_idx = self.first_vertex.partition_point(|first| *first <= vertex) - 1;
        let node = self.nodes_of[task_idx][vertex - self.first_vertex[task_idx]];
        Some(SyntheticInstance { task: TaskIdx::at(task_idx), node })
    }

    /// Returns the description of a node; `None` for the virtual node of stages.
    pub(super) fn describe_node(&self, node: NodeIdx) -> Option<String> {
        match self.nodes.get(node.index()) {
            Some(name) => Some(format!("on a node with `{name}`")),
            None if node == self.master() => Some("on the master".to_owned()),
            None => None,
        }
    }

    /// Returns the roles that two nodes can have and through which the relation reaches the name of the task
    /// itself: instances on two such nodes would depend on each other. A `primary-` role has only one node.
    pub(super) fn shared_own_roles(
        &self,
        task_idx: TaskIdx,
        link: &Link<'a>,
        budget: &mut Budget,
    ) -> Vec<&'a str> {
        let reached = self.reached(link.target, &mut HashMap::new(), budget);
        let own = &self.nodes_of[task_idx.index()];
        let can_have_two_nodes = |name: &&&str| !name.starts_with("primary-");
        let common = reached.iter().filter(|node| own.binary_search(node).is_ok());
        common.filter_map(|node| self.nodes.get(node.index())).filter(can_have_two_nodes).copied().collect()
    }

    /// Returns the nodes of a relation to other nodes. The choice of `policy: any` is not known yet, so such
    /// a relation reaches none.
    fn reached(
        &self,
        target: TargetNodes<'a>,
        nodes_by_name: &mut HashMap<&'a str, Vec<NodeIdx>>,
        budget: &mut Budget,
    ) -> Vec<NodeIdx> {
        match target {
            TargetNodes::Everywhere => {
                self.resolve(&Placement { everywhere: true, ..Placement::default() }, nodes_by_name, budget)
            }
            TargetNodes::Named(value) => {
                self.resolve(&Placement::of_value(Some(value)), nodes_by_name, budget)
            }
            TargetNodes::Own | TargetNodes::Sync | TargetNodes::Any(_) => Vec::new(),
        }
    }

    /// Returns the dependencies between instances, in execution order.
    pub(super) fn edges(&self, subject: &Subject<'_, 'a>, names: &mut Names<'a>) -> Csr<VertexIdx> {
        let mut builder = EdgeBuilder {
            cluster: self,
            edges: Vec::new(),
            junctions: HashMap::new(),
            nodes_by_name: HashMap::new(),
        };
        for (task_idx, definition) in subject.tasks() {
            for link in definition.links.iter().filter(|_| !definition.is_group()) {
                let resolution = names.resolve(link.name);
                if !names.budget.spend(resolution.tasks().len() as u64) {
                    continue;
                }
                for other_idx in resolution.tasks().iter().filter(|other| **other != task_idx) {
                    let is_to_stage = subject.definition(*other_idx).is_stage();
                    builder.link(task_idx, link, *other_idx, is_to_stage, &mut names.budget);
                }
            }
        }
        let n_vertices = self.n_instances() + builder.junctions.len();
        Csr::new(n_vertices, builder.edges)
    }
}

/// Returns all exact role and tag names, and patterns that match none of them, each as a separate node.
/// Sorted.
fn node_names<'a>(placement: &[Placement<'a>], budget: &mut Budget) -> Vec<&'a str> {
    let names: BTreeSet<&str> =
        placement.iter().flat_map(|placement| placement.targets.iter().copied()).collect();
    let (patterns, mut nodes): (Vec<&str>, Vec<&str>) =
        names.into_iter().partition(|name| NamePattern::is_regex(name));
    let n_exact = nodes.len();
    for pattern in patterns {
        if matching(&nodes[..n_exact], pattern, budget).is_empty() {
            nodes.push(pattern);
        }
    }
    if nodes.is_empty() && placement.iter().any(|placement| placement.everywhere) {
        nodes.push("*");
    }
    nodes.sort_unstable();
    nodes
}

/// Returns the indices of the nodes that match a name or a pattern; `nodes` must be sorted.
fn matching(nodes: &[&str], name: &str, budget: &mut Budget) -> Vec<NodeIdx> {
    if !NamePattern::is_regex(name) {
        return nodes.binary_search(&name).into_iter().map(NodeIdx::at).collect();
    }
    let steps = COMPILE_STEPS + nodes.len() as u64;
    let Some(Ok(pattern)) = budget.spend(steps).then(|| NamePattern::new(name)) else { return Vec::new() };
    let is_match = |node: &str| pattern.matches(node) || node == name;
    NodeIdx::first(nodes.len())
        .zip(nodes)
        .filter(|(_, node)| is_match(node))
        .map(|(node_idx, _)| node_idx)
        .collect()
}

/// A set of instances connected through a junction: the task, the nodes, and the direction.
type JunctionKey = (TaskIdx, String, bool);

struct EdgeBuilder<'w, 'a> {
    cluster: &'w SyntheticCluster<'a>,
    edges: Vec<(VertexIdx, VertexIdx)>,
    junctions: HashMap<JunctionKey, Option<VertexIdx>>,
    nodes_by_name: HashMap<&'a str, Vec<NodeIdx>>,
}

impl<'a> EdgeBuilder<'_, 'a> {
    fn link(
        &mut self,
        task_idx: TaskIdx,
        link: &Link<'a>,
        other_idx: TaskIdx,
        is_to_stage: bool,
        budget: &mut Budget,
    ) {
        // Costs one edge per instance.
        if !budget.spend(1 + self.cluster.nodes_of[task_idx.index()].len() as u64) {
            return;
        }
        let sync = self.cluster.sync();
        match link.target {
            TargetNodes::Own if link.is_cross() => self.same_node(task_idx, other_idx, link, None),
            // Stages are on the virtual node `sync`, for all nodes.
            TargetNodes::Own => self.same_node(task_idx, other_idx, link, is_to_stage.then_some(sync)),
            TargetNodes::Sync => self.same_node(task_idx, other_idx, link, Some(sync)),
            TargetNodes::Any(_) => {}
            TargetNodes::Everywhere | TargetNodes::Named(_) => {
                self.link_through_junction(task_idx, link, other_idx, budget);
            }
        }
    }

    /// Adds edges to the other task on each node of the task, or on one fixed node.
    fn same_node(
        &mut self,
        task_idx: TaskIdx,
        other_idx: TaskIdx,
        link: &Link<'a>,
        fixed_node: Option<NodeIdx>,
    ) {
        for (at, node) in self.cluster.nodes_of[task_idx.index()].iter().enumerate() {
            let own = self.cluster.vertex_at(task_idx, at);
            if let Some(other) = self.cluster.vertex(other_idx, fixed_node.unwrap_or(*node)) {
                self.add_edge(own, other, link.is_backward());
            }
        }
    }

    fn link_through_junction(
        &mut self,
        task_idx: TaskIdx,
        link: &Link<'a>,
        other_idx: TaskIdx,
        budget: &mut Budget,
    ) {
        let Some(junction) = self.junction(link, other_idx, budget) else { return };
        for at in 0..self.cluster.nodes_of[task_idx.index()].len() {
            self.add_edge(self.cluster.vertex_at(task_idx, at), junction, link.is_backward());
        }
    }

    /// Returns the junction for all instances of a task on the nodes of a relation; `None` if there are no
    /// such instances.
    fn junction(&mut self, link: &Link<'a>, other_idx: TaskIdx, budget: &mut Budget) -> Option<VertexIdx> {
        let nodes = match link.target {
            TargetNodes::Named(value) => value.to_string(),
            _ => "*".to_owned(),
        };
        let key = (other_idx, nodes, link.is_backward());
        if let Some(junction) = self.junctions.get(&key) {
            return *junction;
        }
        let reached = self.cluster.reached(link.target, &mut self.nodes_by_name, budget);
        let instances: Vec<VertexIdx> =
            reached.iter().filter_map(|node| self.cluster.vertex(other_idx, *node)).collect();
        // A junction without instances is numbered too, so that the number of junctions equals the length of
        // the map.
        let number = VertexIdx::at(self.cluster.n_instances() + self.junctions.len());
        for instance in &instances {
            self.add_edge(number, *instance, link.is_backward());
        }
        let junction = (!instances.is_empty()).then_some(number);
        self.junctions.insert(key, junction);
        junction
    }

    /// Adds an edge between two instances in execution order; `this` refers to `other`.
    fn add_edge(&mut self, this: VertexIdx, other: VertexIdx, is_backward: bool) {
        self.edges.push(if is_backward { (other, this) } else { (this, other) });
    }
}
