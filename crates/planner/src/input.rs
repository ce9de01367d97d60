//! Everything a plan depends on.

use std::collections::BTreeMap;
use std::sync::Arc;

use stoker_model::Task;
use stoker_yaql::{Library, Value};

use crate::state::{Document, OldStates, master_document};

/// What is planned. Two equal inputs give equal plans, byte for byte.
#[derive(Clone)]
pub struct PlanningInput<'a> {
    /// The merged graph. The order of tasks has no meaning.
    pub tasks: &'a [Task],
    /// A predicate over node records; blank text filters nothing.
    pub node_filter: Option<&'a str>,
    /// What expressions can call: [`crate::library`], with helpers over it.
    pub library: Arc<Library>,
    /// The new state, as far as all nodes have it in common.
    pub common: Document,
    /// Nodes of the cluster that are online. Their order has no meaning.
    pub nodes: Vec<NodeInput>,
    /// Uids of those that are not: they take no part, and the plan says so.
    pub away: Vec<String>,
    /// What the master has of its own.
    pub master: Document,
    /// With what each task last succeeded; nothing: this is a first run.
    pub old: Option<&'a OldStates>,
    pub request: Request,
    /// What `{NAME}` in a text is replaced by; other braces are left alone.
    pub placeholders: BTreeMap<String, String>,
    pub settings: Settings,
}

impl<'a> PlanningInput<'a> {
    /// A first run of some tasks, with nothing said beyond them and the state.
    pub fn new(tasks: &'a [Task], common: Document, nodes: Vec<NodeInput>) -> Self {
        Self {
            tasks,
            node_filter: None,
            library: crate::library(),
            common,
            nodes,
            away: Vec::new(),
            master: master_document(),
            old: None,
            request: Request::default(),
            placeholders: BTreeMap::new(),
            settings: Settings::default(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct NodeInput {
    pub uid: String,
    /// Where tasks can be placed; the primary node of a tag has `primary-TAG` instead of it.
    pub tags: Vec<String>,
    pub document: Document,
    /// What node filters see: `id`, `status`, `roles`, …; a node without a record passes every filter but one that
    /// needs it.
    pub record: Option<Value>,
}

/// What is wanted of a graph.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Only these nodes; an empty list means none.
    pub nodes: Option<Vec<String>>,
    /// Only these tasks.
    pub tasks: Option<Vec<String>>,
    /// Only what lies between these; no pieces: everything.
    pub subgraphs: Vec<Subgraph>,
    /// As if nothing had ever succeeded.
    pub force: bool,
}

/// What comes after one of `start` (if any are given) and before one of `end` (if any are given). Each is `task` or
/// `task/nodes`, nodes being a comma list in which `1-3` is a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subgraph {
    pub start: Vec<String>,
    pub end: Vec<String>,
}

/// How far evaluations may go, and what the world looks like to them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The longest collection; grows with the fleet if not given.
    pub limit_iterators: Option<i64>,
    /// The largest value in bytes; grows with the fleet if not given.
    pub memory_quota: Option<i64>,
    /// What `now()` gives.
    pub now_micros: i64,
    /// What `random()` is made of.
    pub random_bits: u64,
    /// How many threads may be used; the plan does not depend on it.
    pub n_threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { limit_iterators: None, memory_quota: None, now_micros: 0, random_bits: 0, n_threads: 1 }
    }
}
