//! What a plan was made from, in short: enough to tell later whether it would be made again, and if not, what is new.
//!
//! Time and dice are not part of it: they are never the same twice.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stoker_model::Json;
use stoker_yaql::Value;
use stoker_yaql::library::Function;
use stoker_yaql::value::Map;

use crate::helpers;
use crate::input::{NodeInput, PlanningInput};
use crate::state::{MASTER, NodePast, OldStates, State, StateIdx};

/// Half of a BLAKE3 hash, as hexadecimal digits.
type Hex = String;

/// Digests of everything a plan depends on, by the parts that users know.
///
/// Everything is compared as it is written, except that the order of keys has no meaning: expressions take `1` and `true`
/// for equal, but a task that prints them does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputDigests {
    /// By task.
    pub graph: BTreeMap<String, Hex>,
    /// By key of what all nodes have in common.
    pub common: BTreeMap<String, Hex>,
    /// By uid: the node's own document, tags and record; the master among them.
    pub nodes: BTreeMap<String, Hex>,
    /// By uid: with what tasks last succeeded there. Empty if that does not matter.
    pub old: BTreeMap<String, Hex>,
    /// By what is said: which nodes, which tasks, ….
    pub request: BTreeMap<String, Hex>,
    /// By name: functions of users that expressions of the graph may call.
    #[serde(default)]
    pub helpers: BTreeMap<String, Hex>,
}

/// The digests of an input.
pub fn input_digests(input: &PlanningInput<'_>) -> InputDigests {
    let graph = input.tasks.iter().map(|task| (task.name.clone(), of_fields(&task.fields))).collect();
    let common = input.common.map().into_iter().flat_map(Map::iter);
    let common = common.map(|(key, value)| (name(key), of(|hash| hash.value(value)))).collect();
    let mut nodes: BTreeMap<String, Hex> =
        input.nodes.iter().map(|node| (node.uid.clone(), of_node(node))).collect();
    nodes.insert(MASTER.to_owned(), of(|hash| hash.value(input.master.value())));
    let old = input.old.filter(|_| !input.request.force).map(of_old).unwrap_or_default();
    InputDigests { graph, common, nodes, old, request: of_request(input), helpers: of_helpers(input) }
}

fn name(key: &Value) -> String {
    key.as_str().map_or_else(|| key.to_repr(64).unwrap_or_default(), str::to_owned)
}

/// Text with its length, so that two texts never look like one.
struct Hash(blake3::Hasher);

impl Hash {
    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.update(text.as_bytes());
    }

    fn number(&mut self, number: usize) {
        self.0.update(&(number as u64).to_le_bytes());
    }

    fn value(&mut self, value: &Value) {
        self.0.update(&value.identity().to_bytes());
    }

    fn texts<'t>(&mut self, texts: impl ExactSizeIterator<Item = &'t String>) {
        self.number(texts.len());
        texts.for_each(|text| self.text(text));
    }

    fn json(&mut self, value: &Json) {
        match value {
            Json::Array(items) => {
                self.text("array");
                self.number(items.len());
                for item in items {
                    self.json(item);
                }
            }
            Json::Object(map) => self.fields(map),
            // Written as JSON, scalars of different types never look alike.
            scalar => self.text(&scalar.to_string()),
        }
    }

    fn fields(&mut self, map: &stoker_model::JsonMap) {
        let mut entries: Vec<(&String, &Json)> = map.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        self.text("object");
        self.number(entries.len());
        for (key, value) in entries {
            self.text(key);
            self.json(value);
        }
    }

    fn state(&mut self, state: Option<&State>) {
        match state {
            None => self.number(0),
            Some(state) => {
                self.number(1);
                self.value(state.common.value());
                self.value(state.node.value());
            }
        }
    }
}

fn of(write: impl FnOnce(&mut Hash)) -> Hex {
    let mut hash = Hash(blake3::Hasher::new());
    write(&mut hash);
    hash.0.finalize().to_hex()[..32].to_owned()
}

fn of_fields(fields: &stoker_model::JsonMap) -> Hex {
    of(|hash| hash.fields(fields))
}

fn of_node(node: &NodeInput) -> Hex {
    of(|hash| {
        hash.value(node.document.value());
        let mut tags: Vec<&String> = node.tags.iter().collect();
        tags.sort_unstable();
        tags.dedup();
        hash.texts(tags.into_iter());
        hash.value(node.record.as_ref().unwrap_or(&Value::Null));
    })
}

fn of_old(old: &OldStates) -> BTreeMap<String, Hex> {
    let of_past = |past: &NodePast| {
        of(|hash| {
            let state = |idx: Option<StateIdx>| idx.and_then(|idx| old.states().get(idx as usize));
            hash.state(state(past.usual));
            let by_task: BTreeMap<&String, &Option<StateIdx>> = past.by_task.iter().collect();
            for (task, state_idx) in by_task {
                hash.text(task);
                hash.state(state(*state_idx));
            }
        })
    };
    old.pasts().map(|(uid, past)| (uid.clone(), of_past(past))).collect()
}

fn of_request(input: &PlanningInput<'_>) -> BTreeMap<String, Hex> {
    let request = &input.request;
    let list = |list: &Option<Vec<String>>| {
        list.as_ref().map_or_else(String::new, |names| of(|hash| hash.texts(names.iter())))
    };
    let subgraphs = of(|hash| {
        for piece in &request.subgraphs {
            hash.texts(piece.start.iter());
            hash.texts(piece.end.iter());
        }
    });
    let placeholders = of(|hash| {
        for (name, value) in &input.placeholders {
            hash.text(name);
            hash.text(value);
        }
    });
    let filter = of(|hash| hash.text(input.node_filter.unwrap_or_default().trim()));
    let parts = [
        ("which nodes are asked for", list(&request.nodes)),
        ("which tasks are asked for", list(&request.tasks)),
        ("which part of the graph is asked for", subgraphs),
        ("whether everything is run anew", request.force.to_string()),
        ("the node filter of the graph", filter),
        ("what placeholders stand for", placeholders),
    ];
    parts.into_iter().map(|(part, digest)| (part.to_owned(), digest)).collect()
}

fn of_helpers(input: &PlanningInput<'_>) -> BTreeMap<String, Hex> {
    let of_functions = |functions: Vec<&dyn Function>| {
        of(|hash| {
            for function in functions {
                function.signatures().iter().for_each(|signature| hash.text(signature));
                hash.text(function.body().unwrap_or_default());
                for default in function.defaults() {
                    hash.number(usize::from(default.is_some()));
                    hash.value(default.as_ref().unwrap_or(&Value::Null));
                }
            }
        })
    };
    helpers::used(input).into_iter().map(|(name, functions)| (name, of_functions(functions))).collect()
}

impl InputDigests {
    /// What is not the same in another input, in words: "the setting `debug` of all nodes", "task `x`", "node 5".
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        told.extend(differing(&self.graph, &other.graph).map(|task| format!("task `{task}`")));
        let settings = differing(&self.common, &other.common);
        told.extend(settings.map(|key| format!("the setting `{key}` of all nodes")));
        told.extend(some_nodes(differing(&self.nodes, &other.nodes)));
        let old = some_nodes(differing(&self.old, &other.old));
        told.extend(old.map(|nodes| format!("what last succeeded on {nodes}")));
        told.extend(differing(&self.helpers, &other.helpers).map(|name| format!("helper `{name}`")));
        told.extend(differing(&self.request, &other.request).cloned());
        told
    }
}

/// Keys that only one of two maps has, or that have another value.
fn differing<'m>(
    a: &'m BTreeMap<String, Hex>,
    b: &'m BTreeMap<String, Hex>,
) -> impl Iterator<Item = &'m String> {
    let mut keys: Vec<&String> =
        a.iter().filter(|(key, digest)| b.get(*key) != Some(*digest)).map(|(key, _)| key).collect();
    keys.extend(b.keys().filter(|key| !a.contains_key(*key)));
    keys.sort_unstable();
    keys.into_iter()
}

/// More nodes than these are counted.
const NODES_TOLD: usize = 5;

fn some_nodes<'n>(uids: impl Iterator<Item = &'n String>) -> Option<String> {
    let uids: Vec<&str> = uids.map(String::as_str).collect();
    let told = uids[..uids.len().min(NODES_TOLD)].join(", ");
    match uids.len() {
        0 => None,
        1 => Some(format!("node {told}")),
        n_nodes if n_nodes <= NODES_TOLD => Some(format!("nodes {told}")),
        n_nodes => Some(format!("nodes {told} and {} more", n_nodes - NODES_TOLD)),
    }
}
