//! Digests of a plan's input, stored with the plan to detect later whether it is stale, and which input
//! changed.
//!
//! The clock and the random seed are not included: they differ for every plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stoker_model::{Json, OnDefinitionChange, Task};
use stoker_state::{AppliedGraph, AppliedStates, EffectiveState, InputsDigest, MASTER, NodePast, StateIdx};
use stoker_yaql::Value;
use stoker_yaql::library::Function;
use stoker_yaql::value::Map;

use crate::helpers;
use crate::input::{NodeInput, PlanningInput};

/// The first 128 bits of a BLAKE3 hash, in hexadecimal.
type Hex = String;

/// Digests of all inputs of a plan, in the units that users know.
///
/// Values are compared by representation, ignoring only the order of keys: expressions treat `1` and `true`
/// as equal, but a task that prints them does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputDigests {
    /// Indexed by task.
    pub graph: BTreeMap<String, Hex>,
    /// Digests of the common document, by top-level key.
    pub common: BTreeMap<String, Hex>,
    /// Digests of the per-node document, tags and record of each node including the master, by UID.
    pub nodes: BTreeMap<String, Hex>,
    /// Digests of the applied states of each node, by UID. Empty if the plan ignores applied states.
    pub old: BTreeMap<String, Hex>,
    /// Digests of the planning request, by part. The keys are stored; [`InputDigests::differences`] translates them for
    /// display.
    pub request: BTreeMap<String, Hex>,
    /// Digests of user-defined helpers that expressions of the graph may call, by name.
    #[serde(default)]
    pub helpers: BTreeMap<String, Hex>,
}

/// Computes the digests of an input.
pub fn input_digests(input: &PlanningInput<'_>) -> InputDigests {
    let graph = input.tasks.iter().map(|task| (task.name.clone(), of_task(task, input))).collect();
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

/// A hash whose strings are length-prefixed, so that concatenations are unambiguous.
pub(crate) struct Hash(blake3::Hasher);

impl Hash {
    pub(crate) fn keyed(key: &[u8; 32]) -> Self {
        Self(blake3::Hasher::new_keyed(key))
    }

    /// The first 128 bits.
    pub(crate) fn finish(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        self.0.finalize_xof().fill(&mut bytes);
        bytes
    }

    pub(crate) fn text(&mut self, text: &str) {
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

    pub(crate) fn json(&mut self, value: &Json) {
        match value {
            Json::Array(items) => {
                self.text("array");
                self.number(items.len());
                for item in items {
                    self.json(item);
                }
            }
            Json::Object(map) => self.fields(map),
            // The JSON texts of scalars of different types are distinct.
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

    fn state(&mut self, state: Option<&EffectiveState>) {
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

fn of_task(task: &Task, input: &PlanningInput<'_>) -> Hex {
    of(|hash| {
        hash.fields(&task.fields);
        for (path, digest) in input.sources.files.get(&task.name).into_iter().flatten() {
            hash.text(path);
            hash.text(digest);
        }
    })
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

fn of_old(old: &AppliedStates) -> BTreeMap<String, Hex> {
    let graphs: Vec<Hex> = old.graphs().iter().map(|graph| of_graph(graph)).collect();
    let mut inputs: BTreeMap<&str, BTreeMap<&str, InputsDigest>> = BTreeMap::new();
    for (task, uid, digest) in old.all_inputs() {
        inputs.entry(uid).or_default().insert(task, digest);
    }
    let of_past = |uid: &str, past: &NodePast| {
        of(|hash| {
            let state = |hash: &mut Hash, idx: Option<StateIdx>| {
                hash.state(idx.and_then(|idx| old.states().get(idx as usize)));
                if let Some(graph) = idx.and_then(|idx| old.graph_of(idx)) {
                    hash.text(&graphs[graph as usize]);
                }
            };
            state(hash, past.usual);
            let by_task: BTreeMap<&String, &Option<StateIdx>> = past.by_task.iter().collect();
            for (task, state_idx) in by_task {
                hash.text(task);
                state(hash, *state_idx);
            }
            for (task, taint) in &past.taints {
                hash.text(task);
                hash.text(taint.cause.as_str());
                hash.number(taint.run as usize);
            }
            for (task, digest) in inputs.get(uid).into_iter().flatten() {
                hash.text(task);
                hash.0.update(&digest.0);
            }
        })
    };
    old.pasts().map(|(uid, past)| (uid.to_owned(), of_past(uid, past))).collect()
}

fn of_graph(graph: &AppliedGraph) -> Hex {
    of(|hash| {
        for (task, fields) in &graph.tasks {
            hash.text(task);
            hash.fields(fields);
        }
        if let Some(sources) = &graph.sources {
            hash.fields(&sources.to_document());
        }
    })
}

fn of_request(input: &PlanningInput<'_>) -> BTreeMap<String, Hex> {
    let request = &input.request;
    let list = |list: &Option<Vec<String>>| {
        list.as_ref().map_or_else(String::new, |names| of(|hash| hash.texts(names.iter())))
    };
    let subgraphs = of(|hash| {
        for subgraph in &request.subgraphs {
            hash.texts(subgraph.start.iter());
            hash.texts(subgraph.end.iter());
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
    let mut parts: BTreeMap<String, Hex> =
        parts.into_iter().map(|(part, digest)| (part.to_owned(), digest)).collect();
    // Present only if it differs from the default, so that plans of earlier versions stay comparable.
    if input.on_definition_change != OnDefinitionChange::Rerun {
        parts.insert(ON_DEFINITION_CHANGE.to_owned(), input.on_definition_change.to_string());
    }
    parts
}

const ON_DEFINITION_CHANGE: &str = "what a changed definition means";

fn of_helpers(input: &PlanningInput<'_>) -> BTreeMap<String, Hex> {
    helpers::used(input).into_iter().map(|(name, functions)| (name, digest_functions(&functions))).collect()
}

/// Digest of the overloads of a helper.
pub(crate) fn digest_functions(functions: &[&dyn Function]) -> Hex {
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
}

impl InputDigests {
    /// The inputs that differ, human-readable: "the setting `debug` of all nodes", "task `x`", "node 5".
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut differences: Vec<String> = Vec::new();
        differences.extend(differing(&self.graph, &other.graph).map(|task| format!("task `{task}`")));
        let settings = differing(&self.common, &other.common);
        differences.extend(settings.map(|key| format!("the setting `{key}` of all nodes")));
        differences.extend(list_nodes(differing(&self.nodes, &other.nodes)));
        let old = list_nodes(differing(&self.old, &other.old));
        differences.extend(old.map(|nodes| format!("the last successful state of {nodes}")));
        differences.extend(differing(&self.helpers, &other.helpers).map(|name| format!("helper `{name}`")));
        differences
            .extend(differing(&self.request, &other.request).map(|part| display_part(part).to_owned()));
        differences
    }
}
/// The display text of a key of [`InputDigests::request`]. The keys are part of stored plans and cannot
/// change.
fn display_part(key: &str) -> &str {
    match key {
        "which nodes are asked for" => "the selected nodes",
        "which tasks are asked for" => "the selected tasks",
        "which part of the graph is asked for" => "the selected subgraph",
        "whether everything is run anew" => "the `force` option",
        "what placeholders stand for" => "the values of placeholders",
        ON_DEFINITION_CHANGE => "`on_definition_change` of the graph",
        other => other,
    }
}
/// Keys that only one of the maps has or whose digests differ, sorted.
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

/// Nodes listed by uid; the others are only counted.
const NODES_LISTED: usize = 5;

fn list_nodes<'n>(uids: impl Iterator<Item = &'n String>) -> Option<String> {
    let uids: Vec<&str> = uids.map(String::as_str).collect();
    let listed = uids[..uids.len().min(NODES_LISTED)].join(", ");
    match uids.len() {
        0 => None,
        1 => Some(format!("node {listed}")),
        n_nodes if n_nodes <= NODES_LISTED => Some(format!("nodes {listed}")),
        n_nodes => Some(format!("nodes {listed} and {} more", n_nodes - NODES_LISTED)),
    }
}
