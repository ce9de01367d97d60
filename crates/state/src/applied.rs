//! Applied states: for each task and node, the state and the definition of the last success, and why they may
//! no longer describe the node.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::json;
use stoker_model::{Json, JsonMap, TaintCause};

use crate::json::object;
use crate::state::EffectiveState;

/// The applied state of each task on each node.
///
/// Nearly all tasks of a node last succeeded in the same run, so a node has a default state and per-task
/// exceptions.
#[derive(Clone, Debug, Default)]
pub struct AppliedStates {
    states: Vec<EffectiveState>,
    /// For each state, the graph that it was applied with; `None` if that is not known.
    graphs_of: Vec<Option<GraphIdx>>,
    graphs: Vec<Arc<AppliedGraph>>,
    by_node: HashMap<Arc<str>, NodePast>,
    /// Fingerprints by task and node.
    inputs: HashMap<String, HashMap<Arc<str>, InputsDigest>>,
}

/// Index into [`AppliedStates::states`].
pub type StateIdx = u32;
/// Index into [`AppliedStates::graphs`].
pub type GraphIdx = u32;

/// The applied states of the tasks of a node.
#[derive(Clone, Debug, Default)]
pub struct NodePast {
    /// The state of all tasks without an exception.
    pub usual: Option<StateIdx>,
    /// Exceptions; `None` if the task never succeeded on the node.
    pub by_task: HashMap<String, Option<StateIdx>>,
    /// Tasks whose last attempt did not succeed.
    pub taints: BTreeMap<String, Taint>,
}

/// An attempt that did not succeed, or has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Taint {
    pub cause: TaintCause,
    /// The run to show to users.
    pub run: i64,
}

/// Task definitions as written, at the time of a success.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppliedGraph {
    /// Fields by task. A task that is not listed has an unknown definition.
    pub tasks: BTreeMap<String, JsonMap>,
    /// `None` if it was not recorded.
    pub sources: Option<SourceDigests>,
}

/// Content that tasks use besides their fields, as digests, and the layers that set the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceDigests {
    /// By task and path.
    pub files: BTreeMap<String, BTreeMap<String, String>>,
    /// By task and name of the helper.
    pub helpers: BTreeMap<String, BTreeMap<String, String>>,
    /// By task and field, for fields that a layer other than the release sets.
    pub layers: BTreeMap<String, BTreeMap<String, String>>,
}

impl SourceDigests {
    /// The form in which it is stored; empty parts are left out.
    pub fn to_document(&self) -> JsonMap {
        let parts = [("files", &self.files), ("helpers", &self.helpers), ("layers", &self.layers)];
        parts
            .into_iter()
            .filter(|(_, part)| !part.is_empty())
            .map(|(name, part)| (name.to_owned(), json!(part)))
            .collect()
    }

    /// Reads the stored form; entries of another type are ignored.
    pub fn from_document(document: &JsonMap) -> Self {
        let part = |name: &str| -> BTreeMap<String, BTreeMap<String, String>> {
            let tasks = document.get(name).and_then(Json::as_object).into_iter().flatten();
            let texts = |map: &JsonMap| {
                map.iter().filter_map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned()))).collect()
            };
            tasks.filter_map(|(task, map)| Some((task.clone(), texts(map.as_object()?)))).collect()
        };
        Self { files: part("files"), helpers: part("helpers"), layers: part("layers") }
    }
}

/// Why the applied state of a task on a node does not count as its old state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// The last attempt did not succeed.
    Tainted(Taint),
    /// The definition differs from that of the last success.
    Redefined(Arc<[AttributeChange]>),
}

/// An attribute in which a task differs from its applied definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AttributeChange {
    /// `type`, `parameters.cmd`, `files./etc/motd`, `helpers.port`, ….
    pub attribute: String,
    pub kind: AttributeChangeKind,
    /// The layer that sets the attribute now, or that set a removed one, if known.
    pub layer: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributeChangeKind {
    Added,
    Changed,
    Removed,
}

/// Fingerprint of the inputs of an instance: its rendered parameters, without scheduling attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InputsDigest(pub [u8; 16]);

impl fmt::Display for InputsDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// A text that is not 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidInputsDigest;

impl FromStr for InputsDigest {
    type Err = InvalidInputsDigest;

    fn from_str(text: &str) -> Result<Self, InvalidInputsDigest> {
        let mut digest = [0; 16];
        hex::decode_to_slice(text, &mut digest).map_err(|_| InvalidInputsDigest)?;
        Ok(Self(digest))
    }
}

impl AppliedStates {
    pub fn add_graph(&mut self, graph: Arc<AppliedGraph>) -> GraphIdx {
        self.graphs.push(graph);
        self.graphs.len() as GraphIdx - 1
    }

    /// Sets the state of all tasks of a node, except those set by [`AppliedStates::set_tasks`], with the graph that
    /// it was applied with.
    pub fn set_node(&mut self, uid: &str, state: EffectiveState, graph: Option<GraphIdx>) {
        let state_idx = self.add(state, graph);
        self.past_mut(uid).usual = Some(state_idx);
    }

    /// Sets a state that several tasks of a node share; it is stored once. `None` if they never succeeded there.
    pub fn set_tasks<'t>(
        &mut self,
        tasks: impl IntoIterator<Item = &'t str>,
        uid: &str,
        state: Option<(EffectiveState, Option<GraphIdx>)>,
    ) {
        let state_idx = state.map(|(state, graph)| self.add(state, graph));
        let by_task = &mut self.past_mut(uid).by_task;
        by_task.extend(tasks.into_iter().map(|task| (task.to_owned(), state_idx)));
    }

    /// Records that the last attempt of a task on a node did not succeed. The state that it was applied with before
    /// stays available.
    pub fn set_taint(&mut self, task: &str, uid: &str, cause: TaintCause, run: i64) {
        self.past_mut(uid).taints.insert(task.to_owned(), Taint { cause, run });
    }

    pub fn set_inputs(&mut self, task: &str, uid: &str, inputs: InputsDigest) {
        self.past_mut(uid);
        let uid = self.by_node.get_key_value(uid).map_or_else(|| uid.into(), |(uid, _)| uid.clone());
        self.inputs.entry(task.to_owned()).or_default().insert(uid, inputs);
    }

    fn past_mut(&mut self, uid: &str) -> &mut NodePast {
        self.by_node.entry(uid.into()).or_default()
    }

    fn add(&mut self, state: EffectiveState, graph: Option<GraphIdx>) -> StateIdx {
        self.states.push(state);
        self.graphs_of.push(graph);
        self.states.len() as StateIdx - 1
    }

    pub fn states(&self) -> &[EffectiveState] {
        &self.states
    }

    pub fn graphs(&self) -> &[Arc<AppliedGraph>] {
        &self.graphs
    }

    /// The graph that a state was applied with, if known.
    pub fn graph_of(&self, state_idx: StateIdx) -> Option<GraphIdx> {
        self.graphs_of.get(state_idx as usize).copied().flatten()
    }

    pub fn past(&self, uid: &str) -> Option<&NodePast> {
        self.by_node.get(uid)
    }

    /// All nodes with a past, by uid.
    pub fn pasts(&self) -> impl Iterator<Item = (&str, &NodePast)> {
        self.by_node.iter().map(|(uid, past)| (&**uid, past))
    }

    /// The state with which a task last succeeded on a node, tainted or not.
    pub fn state(&self, task: &str, uid: &str) -> Option<&EffectiveState> {
        self.states.get(self.state_idx(task, uid)? as usize)
    }

    pub fn state_idx(&self, task: &str, uid: &str) -> Option<StateIdx> {
        let past = self.by_node.get(uid)?;
        past.by_task.get(task).copied().unwrap_or(past.usual)
    }

    /// The inputs with which a task last succeeded on a node, if recorded.
    pub fn inputs(&self, task: &str, uid: &str) -> Option<InputsDigest> {
        self.inputs.get(task)?.get(uid).copied()
    }

    /// The recorded inputs of all tasks, by task and node.
    pub fn all_inputs(&self) -> impl Iterator<Item = (&str, &str, InputsDigest)> {
        self.inputs
            .iter()
            .flat_map(|(task, nodes)| nodes.iter().map(move |(uid, inputs)| (task.as_str(), &**uid, *inputs)))
    }
}

impl AppliedGraph {
    /// From the stored documents: fields by task, and sources if they were recorded.
    pub fn from_documents(graph: JsonMap, sources: Option<&JsonMap>) -> Self {
        Self {
            tasks: graph.into_iter().map(|(task, fields)| (task, object(fields))).collect(),
            sources: sources.map(SourceDigests::from_document),
        }
    }
}

#[cfg(test)]
mod tests {
    use stoker_yaql::json::parse;

    use super::*;
    use crate::Document;

    #[test]
    fn task_state_overrides_node_state() {
        let state = |text: &str| EffectiveState {
            common: Document::new(&parse(text).unwrap()),
            node: Document::default(),
        };
        let mut applied = AppliedStates::default();
        let graph = applied.add_graph(Arc::default());
        applied.set_node("1", state("{\"a\": 1}"), None);
        applied.set_tasks(["late"], "1", Some((state("{\"a\": 2, \"b\": 3}"), Some(graph))));
        applied.set_tasks(["never"], "1", None);
        let n_keys =
            |task: &str, uid: &str| applied.state(task, uid).map(|state| state.common.value().sized_len());
        assert_eq!((n_keys("any", "1"), n_keys("late", "1")), (Some(Some(1)), Some(Some(2))));
        assert_eq!((n_keys("never", "1"), n_keys("any", "2")), (None, None));
        assert_eq!((applied.graph_of(0), applied.graph_of(1)), (None, Some(graph)));
    }

    #[test]
    fn taints_and_inputs_are_per_task_and_node() {
        let mut applied = AppliedStates::default();
        applied.set_taint("a", "1", TaintCause::Failed, 12);
        applied.set_inputs("a", "2", InputsDigest([7; 16]));
        let taint = |task: &str, uid: &str| applied.past(uid).and_then(|past| past.taints.get(task)).copied();
        assert_eq!(taint("a", "1"), Some(Taint { cause: TaintCause::Failed, run: 12 }));
        assert_eq!((taint("b", "1"), taint("a", "2")), (None, None));
        assert_eq!((applied.inputs("a", "2"), applied.inputs("a", "1")), (Some(InputsDigest([7; 16])), None));
    }

    #[test]
    fn digests_are_32_hexadecimal_digits() {
        let digest = InputsDigest([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 254, 255]);
        assert_eq!(digest.to_string(), "000102030405060708090a0b0c0dfeff");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for text in ["", "00", "+00102030405060708090a0b0c0dfeff", "000102030405060708090a0b0c0dfefg"] {
            assert_eq!(text.parse::<InputsDigest>(), Err(InvalidInputsDigest), "{text}");
        }
    }

    #[test]
    fn sources_round_trip() {
        let map = |task: &str, key: &str, text: &str| {
            BTreeMap::from([(task.to_owned(), BTreeMap::from([(key.to_owned(), text.to_owned())]))])
        };
        let sources = SourceDigests {
            files: map("a", "/etc/motd", "00ff"),
            helpers: BTreeMap::new(),
            layers: map("b", "parameters", "cluster"),
        };
        let document = sources.to_document();
        assert_eq!(document.keys().collect::<Vec<_>>(), ["files", "layers"]);
        assert_eq!(SourceDigests::from_document(&document), sources);
        let damaged = object(json!({"files": 3, "helpers": {"a": {"h": 1}, "b": []}}));
        let expected = BTreeMap::from([("a".to_owned(), BTreeMap::new())]);
        assert_eq!(SourceDigests::from_document(&damaged).helpers, expected);
    }
}
