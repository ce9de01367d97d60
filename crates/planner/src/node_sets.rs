//! Resolution of role and tag names to interned sets of nodes.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_graph::{InvalidPattern, NamePattern};
use stoker_model::{Json, NodeIdx};
use stoker_state::MASTER;

use crate::nodes::Nodes;

/// Node indices, ascending. Interned: equal sets share one allocation.
pub(crate) type NodeSet = Arc<[NodeIdx]>;

/// Matches all ordinary nodes.
const EVERYWHERE: &str = "*";

pub(crate) struct NodeSets<'n> {
    nodes: &'n Nodes,
    sets: HashMap<NodeSet, NodeSet>,
    by_name: HashMap<String, Result<NodeSet, InvalidPattern>>,
}

impl<'n> NodeSets<'n> {
    pub(crate) fn new(nodes: &'n Nodes) -> Self {
        Self { nodes, sets: HashMap::new(), by_name: HashMap::new() }
    }

    pub(crate) fn nodes(&self) -> &'n Nodes {
        self.nodes
    }

    /// Interns a set of nodes.
    pub(crate) fn set(&mut self, mut nodes: Vec<NodeIdx>) -> NodeSet {
        nodes.sort_unstable();
        nodes.dedup();
        self.set_of(&nodes)
    }

    /// Interns a set of nodes that are already sorted and distinct.
    pub(crate) fn set_of(&mut self, nodes: &[NodeIdx]) -> NodeSet {
        if let Some(set) = self.sets.get(nodes) {
            return set.clone();
        }
        let set: NodeSet = nodes.into();
        self.sets.insert(set.clone(), set.clone());
        set
    }

    pub(crate) fn everywhere(&mut self) -> NodeSet {
        self.set(NodeIdx::first(self.nodes.n_ordinary()).collect())
    }

    pub(crate) fn sync(&mut self) -> NodeSet {
        self.set(vec![self.nodes.sync()])
    }

    /// Resolves a name, a pattern, or a list of them to nodes. Also returns messages about invalid entries.
    pub(crate) fn resolve(&mut self, names: &Json) -> (NodeSet, Vec<String>) {
        let mut problems = Vec::new();
        let names: Vec<&str> = match names {
            Json::String(name) => vec![name],
            Json::Array(items) => items
                .iter()
                .filter_map(|item| {
                    if item.as_str().is_none() && !item.is_null() {
                        problems.push(format!("{item} is not the name of a role or tag"));
                    }
                    item.as_str()
                })
                .collect(),
            other => {
                problems.push(format!("expected a role or tag name or a list of them, not {other}"));
                Vec::new()
            }
        };
        let mut nodes = Vec::new();
        for name in names {
            match self.resolve_name(name) {
                Ok(set) => nodes.extend_from_slice(&set),
                Err(why) => problems.push(format!("invalid pattern `{name}`: {why}")),
            }
        }
        (self.set(nodes), problems)
    }

    fn resolve_name(&mut self, name: &str) -> Result<NodeSet, InvalidPattern> {
        if let Some(set) = self.by_name.get(name) {
            return set.clone();
        }
        let nodes = match name {
            EVERYWHERE => Ok(NodeIdx::first(self.nodes.n_ordinary()).collect()),
            MASTER => Ok(vec![self.nodes.master()]),
            _ => self.nodes_with_tag(name),
        };
        let set = nodes.map(|nodes| self.set(nodes));
        self.by_name.insert(name.to_owned(), set.clone());
        set
    }

    fn nodes_with_tag(&self, name: &str) -> Result<Vec<NodeIdx>, InvalidPattern> {
        let tags = self.nodes.tags();
        Ok(match NamePattern::new(name)? {
            NamePattern::Exact(tag) => tags.get(tag).cloned().unwrap_or_default(),
            pattern @ NamePattern::Regex(_) => tags
                .iter()
                .filter(|(tag, _)| pattern.matches(tag))
                .flat_map(|(_, nodes)| nodes)
                .copied()
                .collect(),
        })
    }
}

/// Intersection of two ascending lists.
pub(crate) fn common(a: &[NodeIdx], b: &[NodeIdx]) -> Vec<NodeIdx> {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if small.len() * 16 < large.len() {
        return small.iter().filter(|node| large.binary_search(node).is_ok()).copied().collect();
    }
    let (mut shared, mut at) = (Vec::new(), 0);
    for node in small {
        while large.get(at).is_some_and(|other| other < node) {
            at += 1;
        }
        if large.get(at) == Some(node) {
            shared.push(*node);
        }
    }
    shared
}
