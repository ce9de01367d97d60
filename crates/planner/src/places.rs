//! From names of places to sets of nodes.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_graph::Pattern;
use stoker_model::Json;

use crate::compute::subjects::NodeIdx;
use crate::nodes::Nodes;
use crate::state::MASTER;

/// Nodes, ascending. Equal sets are one.
pub(crate) type NodeSet = Arc<[NodeIdx]>;

/// All nodes.
const EVERYWHERE: &str = "*";

pub(crate) struct Places<'n> {
    nodes: &'n Nodes,
    sets: HashMap<NodeSet, NodeSet>,
    by_name: HashMap<String, Result<NodeSet, String>>,
}

impl<'n> Places<'n> {
    pub(crate) fn new(nodes: &'n Nodes) -> Self {
        Self { nodes, sets: HashMap::new(), by_name: HashMap::new() }
    }

    pub(crate) fn nodes(&self) -> &'n Nodes {
        self.nodes
    }

    /// The one set that has these nodes.
    pub(crate) fn set(&mut self, mut nodes: Vec<NodeIdx>) -> NodeSet {
        nodes.sort_unstable();
        nodes.dedup();
        self.set_of(&nodes)
    }

    /// The one set of nodes that ascend already.
    pub(crate) fn set_of(&mut self, nodes: &[NodeIdx]) -> NodeSet {
        if let Some(known) = self.sets.get(nodes) {
            return known.clone();
        }
        let set: NodeSet = nodes.into();
        self.sets.insert(set.clone(), set.clone());
        set
    }

    pub(crate) fn everywhere(&mut self) -> NodeSet {
        self.set((0..self.nodes.n_ordinary()).collect())
    }

    pub(crate) fn sync(&mut self) -> NodeSet {
        self.set(vec![self.nodes.sync()])
    }

    /// What a field or a relation says about where: a name, a pattern, or a list of them. The second part tells what
    /// is wrong with it.
    pub(crate) fn resolve(&mut self, place: &Json) -> (NodeSet, Vec<String>) {
        let mut problems = Vec::new();
        let names: Vec<&str> = match place {
            Json::String(name) => vec![name],
            Json::Array(items) => items
                .iter()
                .filter_map(|item| {
                    if item.as_str().is_none() && !item.is_null() {
                        problems.push(format!("{item} is no name of a role or tag"));
                    }
                    item.as_str()
                })
                .collect(),
            other => {
                problems.push(format!("{other} says no place: a name or a list of names is needed"));
                Vec::new()
            }
        };
        let mut nodes = Vec::new();
        for name in names {
            match self.named(name) {
                Ok(set) => nodes.extend_from_slice(&set),
                Err(why) => problems.push(format!("`{name}` is no pattern: {why}")),
            }
        }
        (self.set(nodes), problems)
    }

    fn named(&mut self, name: &str) -> Result<NodeSet, String> {
        if let Some(known) = self.by_name.get(name) {
            return known.clone();
        }
        let nodes = match name {
            EVERYWHERE => Ok((0..self.nodes.n_ordinary()).collect()),
            MASTER => Ok(vec![self.nodes.master()]),
            _ => self.tagged(name),
        };
        let set = nodes.map(|nodes| self.set(nodes));
        self.by_name.insert(name.to_owned(), set.clone());
        set
    }

    fn tagged(&self, name: &str) -> Result<Vec<NodeIdx>, String> {
        let tags = self.nodes.tags();
        Ok(match Pattern::new(name)? {
            Pattern::Exact(tag) => tags.get(tag).cloned().unwrap_or_default(),
            pattern @ Pattern::Regex(_) => tags
                .iter()
                .filter(|(tag, _)| pattern.matches(tag))
                .flat_map(|(_, nodes)| nodes)
                .copied()
                .collect(),
        })
    }
}

/// Nodes that are in both; both ascend.
pub(crate) fn common(a: &[NodeIdx], b: &[NodeIdx]) -> Vec<NodeIdx> {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if small.len() * 16 < large.len() {
        return small.iter().filter(|node| large.binary_search(node).is_ok()).copied().collect();
    }
    let (mut found, mut at) = (Vec::new(), 0);
    for node in small {
        while large.get(at).is_some_and(|other| other < node) {
            at += 1;
        }
        if large.get(at) == Some(node) {
            found.push(*node);
        }
    }
    found
}
