//! A small world to try a graph in: one node for each role or tag that is named, the master, and the place of stages.
//!
//! A dependency between tasks is one between their instances: `requires` holds on one node only, so definitions that
//! require each other in a circle are harmless as long as no node has them all. In this world every task is where its
//! definition puts it and no node has two roles; what goes round in circles here does so in every cluster that has
//! these roles. Relations to whole sets of nodes meet in one vertex, so edges grow with the sum of both sides.

use std::collections::{BTreeSet, HashMap};

use super::Subject;
use super::effort::{COMPILE_STEPS, Effort};
use super::links::{Link, Place};
use super::names::Names;
use super::spots::Spots;
use crate::csr::Csr;
use crate::pattern::Pattern;

pub(super) struct World<'a> {
    /// Names of the ordinary nodes. After them come the master and the place of stages.
    nodes: Vec<&'a str>,
    /// Per task the nodes it is on, ascending.
    nodes_of: Vec<Vec<u32>>,
    /// Per task the first of its vertices; one more at the end.
    first_vertex: Vec<u32>,
}

impl<'a> World<'a> {
    pub(super) fn new(subject: &Subject<'_, 'a>, effort: &mut Effort) -> Self {
        let spots: Vec<Spots<'a>> =
            (0..subject.definitions.len() as u32).map(|task_idx| subject.spots_of(task_idx)).collect();
        let mut world = Self { nodes: universe(&spots, effort), nodes_of: Vec::new(), first_vertex: vec![0] };
        let mut known = HashMap::new();
        for (definition, spots) in subject.definitions.iter().zip(&spots) {
            let nodes = match definition {
                definition if definition.is_group() => Vec::new(),
                definition if definition.is_stage() => vec![world.sync()],
                _ => world.resolve(spots, &mut known, effort),
            };
            world.first_vertex.push(world.n_instances() + nodes.len() as u32);
            world.nodes_of.push(nodes);
        }
        world
    }

    fn master(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn sync(&self) -> u32 {
        self.nodes.len() as u32 + 1
    }

    fn n_instances(&self) -> u32 {
        self.first_vertex.last().copied().unwrap_or_default()
    }

    /// Nodes that have one of these places.
    fn resolve(
        &self,
        spots: &Spots<'a>,
        known: &mut HashMap<&'a str, Vec<u32>>,
        effort: &mut Effort,
    ) -> Vec<u32> {
        let mut nodes = Vec::new();
        // A large world costs as much as there are instances in it.
        if spots.everywhere && effort.spend(self.master().into()) {
            nodes.extend(0..self.master());
        }
        nodes.extend(spots.master.then(|| self.master()));
        for name in &spots.named {
            let found = known.entry(name).or_insert_with(|| matching(&self.nodes, name, effort));
            if effort.spend(found.len() as u64) {
                nodes.extend(found.iter().copied());
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    pub(super) fn vertex(&self, task_idx: u32, node: u32) -> Option<u32> {
        let at = self.nodes_of[task_idx as usize].binary_search(&node).ok()?;
        Some(self.first_vertex[task_idx as usize] + at as u32)
    }

    /// The task and the node of a vertex; none for one where relations meet.
    pub(super) fn instance(&self, vertex: u32) -> Option<(u32, u32)> {
        if vertex >= self.n_instances() {
            return None;
        }
        let task_idx = self.first_vertex.partition_point(|first| *first <= vertex) - 1;
        let node = self.nodes_of[task_idx][(vertex - self.first_vertex[task_idx]) as usize];
        Some((task_idx as u32, node))
    }

    /// A node in words; nothing for the place of stages.
    pub(super) fn node_words(&self, node: u32) -> Option<String> {
        match self.nodes.get(node as usize) {
            Some(name) => Some(format!("on a node with `{name}`")),
            None if node == self.master() => Some("on the master".to_owned()),
            None => None,
        }
    }

    /// Places that two nodes can have where this relation reaches the task's own name: there each instance waits for
    /// the other.
    pub(super) fn own_crowds(&self, task_idx: u32, link: &Link<'a>, effort: &mut Effort) -> Vec<&'a str> {
        let reached = self.reached(link.place, &mut HashMap::new(), effort);
        let own = &self.nodes_of[task_idx as usize];
        let is_crowd = |name: &&&str| !name.starts_with("primary-");
        let common = reached.iter().filter(|node| own.binary_search(node).is_ok());
        common.filter_map(|node| self.nodes.get(*node as usize)).filter(is_crowd).copied().collect()
    }

    /// The nodes of a relation to other nodes. Which one `policy: any` picks is not known, so it reaches none.
    fn reached(
        &self,
        place: Place<'a>,
        known: &mut HashMap<&'a str, Vec<u32>>,
        effort: &mut Effort,
    ) -> Vec<u32> {
        match place {
            Place::Everywhere => self.resolve(&Spots { everywhere: true, ..Spots::default() }, known, effort),
            Place::Named(value) => self.resolve(&Spots::of_value(Some(value)), known, effort),
            Place::Own | Place::Sync | Place::Any(_) => Vec::new(),
        }
    }

    /// The dependencies between instances, each edge from what is before to what is after.
    pub(super) fn edges(&self, subject: &Subject<'_, 'a>, names: &mut Names<'a>) -> Csr {
        let mut wiring =
            Wiring { world: self, edges: Vec::new(), joins: HashMap::new(), known: HashMap::new() };
        for (task_idx, definition) in (0_u32..).zip(&subject.definitions) {
            for link in definition.links.iter().filter(|_| !definition.is_group()) {
                let meaning = names.meaning(link.name);
                if !names.effort.spend(meaning.tasks().len() as u64) {
                    continue;
                }
                for other_idx in meaning.tasks().iter().filter(|other| **other != task_idx) {
                    let is_to_stage = subject.definition(*other_idx).is_stage();
                    wiring.link(task_idx, link, *other_idx, is_to_stage, &mut names.effort);
                }
            }
        }
        let n_vertices = self.n_instances() as usize + wiring.joins.len();
        Csr::new(n_vertices, wiring.edges)
    }
}

/// Every name of a place that is no pattern, and patterns that match none of them as places of their own. Ascending.
fn universe<'a>(spots: &[Spots<'a>], effort: &mut Effort) -> Vec<&'a str> {
    let all: BTreeSet<&str> = spots.iter().flat_map(|spots| spots.named.iter().copied()).collect();
    let (patterns, mut nodes): (Vec<&str>, Vec<&str>) =
        all.into_iter().partition(|name| Pattern::is_regex(name));
    let n_exact = nodes.len();
    for pattern in patterns {
        if matching(&nodes[..n_exact], pattern, effort).is_empty() {
            nodes.push(pattern);
        }
    }
    if nodes.is_empty() && spots.iter().any(|spots| spots.everywhere) {
        nodes.push("*");
    }
    nodes.sort_unstable();
    nodes
}

/// Nodes that are meant by a name or a pattern; `nodes` ascend.
fn matching(nodes: &[&str], name: &str, effort: &mut Effort) -> Vec<u32> {
    if !Pattern::is_regex(name) {
        return nodes.binary_search(&name).into_iter().map(|node_idx| node_idx as u32).collect();
    }
    let steps = COMPILE_STEPS + nodes.len() as u64;
    let Some(Ok(pattern)) = effort.spend(steps).then(|| Pattern::new(name)) else { return Vec::new() };
    let is_meant = |node: &str| pattern.matches(node) || node == name;
    (0_u32..).zip(nodes).filter(|(_, node)| is_meant(node)).map(|(node_idx, _)| node_idx).collect()
}

/// A set of instances that relations lead to or from: a task, the nodes, and on which side of it they are.
type JoinKey = (u32, String, bool);

struct Wiring<'w, 'a> {
    world: &'w World<'a>,
    edges: Vec<(u32, u32)>,
    joins: HashMap<JoinKey, Option<u32>>,
    known: HashMap<&'a str, Vec<u32>>,
}

impl<'a> Wiring<'_, 'a> {
    fn link(
        &mut self,
        task_idx: u32,
        link: &Link<'a>,
        other_idx: u32,
        is_to_stage: bool,
        effort: &mut Effort,
    ) {
        // An edge for each instance.
        if !effort.spend(1 + self.world.nodes_of[task_idx as usize].len() as u64) {
            return;
        }
        let sync = self.world.sync();
        match link.place {
            Place::Own if link.is_cross() => self.same_node(task_idx, other_idx, link, None),
            // Stages are where the sync node is, for everyone.
            Place::Own => self.same_node(task_idx, other_idx, link, is_to_stage.then_some(sync)),
            Place::Sync => self.same_node(task_idx, other_idx, link, Some(sync)),
            Place::Any(_) => {}
            Place::Everywhere | Place::Named(_) => self.joined(task_idx, link, other_idx, effort),
        }
    }

    /// Edges on each node of the task, or from each of its nodes to one place.
    fn same_node(&mut self, task_idx: u32, other_idx: u32, link: &Link<'a>, place: Option<u32>) {
        for (at, node) in self.world.nodes_of[task_idx as usize].iter().enumerate() {
            let own = self.world.first_vertex[task_idx as usize] + at as u32;
            if let Some(other) = self.world.vertex(other_idx, place.unwrap_or(*node)) {
                self.edge(own, other, link.is_backward());
            }
        }
    }

    fn joined(&mut self, task_idx: u32, link: &Link<'a>, other_idx: u32, effort: &mut Effort) {
        let Some(join) = self.join(link, other_idx, effort) else { return };
        let first = self.world.first_vertex[task_idx as usize];
        for at in 0..self.world.nodes_of[task_idx as usize].len() as u32 {
            self.edge(first + at, join, link.is_backward());
        }
    }

    /// The vertex where all instances of a task on the nodes of a relation meet; none if there are no such instances.
    fn join(&mut self, link: &Link<'a>, other_idx: u32, effort: &mut Effort) -> Option<u32> {
        let place = match link.place {
            Place::Named(value) => value.to_string(),
            _ => "*".to_owned(),
        };
        let key = (other_idx, place, link.is_backward());
        if let Some(join) = self.joins.get(&key) {
            return *join;
        }
        let reached = self.world.reached(link.place, &mut self.known, effort);
        let instances: Vec<u32> =
            reached.iter().filter_map(|node| self.world.vertex(other_idx, *node)).collect();
        // Also sets without instances take a number, so that numbers can be counted.
        let number = self.world.n_instances() + self.joins.len() as u32;
        for instance in &instances {
            self.edge(number, *instance, link.is_backward());
        }
        let join = (!instances.is_empty()).then_some(number);
        self.joins.insert(key, join);
        join
    }

    /// An edge between this and what it refers to, in the direction of time.
    fn edge(&mut self, this: u32, other: u32, is_backward: bool) {
        self.edges.push(if is_backward { (other, this) } else { (this, other) });
    }
}
