//! What a cluster is or should be: a document that all nodes have in common, and one for each node.
//!
//! A node sees its own document laid over the common one. Both are immutable and shared: laying one over the other
//! copies the outermost level and nothing beneath it, whatever the documents weigh.

mod shared;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::LazyLock;

use stoker_yaql::Value;
use stoker_yaql::value::{Key, Map, MapBuilder};

pub use shared::Shared;

/// The node that runs the control plane.
pub const MASTER: &str = "master";
/// The node that carries stages and is none.
pub const SYNC: &str = "sync";

static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::frozen_dict(Map::builder().build()));

/// A part of a state, with the keys of all its maps in order.
///
/// Expressions can see the order of keys (`$.nodes.values()`), and two documents with the same content must not look
/// different to them. Making one costs a walk; using it costs nothing more.
#[derive(Clone, Debug)]
pub struct Document(Value);

impl Document {
    /// Anything but a map makes an empty document.
    pub fn new(value: &Value) -> Self {
        if value.as_map().is_some() { Self(in_order(value)) } else { Self::default() }
    }

    pub fn value(&self) -> &Value {
        &self.0
    }

    /// What is under a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_map()?.get_str(key)
    }

    pub(crate) fn map(&self) -> Option<&Map> {
        self.0.as_map().map(|map| &**map)
    }
}

impl Default for Document {
    fn default() -> Self {
        Self(EMPTY.clone())
    }
}

/// A value with all keys in order; sequences and maps are of the kind that data has.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Tuple(items) | Value::List(items) => Value::tuple(items.iter().map(in_order).collect()),
        Value::FrozenDict(map) | Value::Dict(map) => {
            let mut entries: Vec<(&Key, &Value)> =
                map.iter_keys().zip(map.iter()).map(|(key, (_, value))| (key, value)).collect();
            entries.sort_by(|(a, _), (b, _)| compare_keys(a.value(), b.value()));
            let mut builder = MapBuilder::with_capacity(entries.len());
            for (key, value) in entries {
                builder.insert_key(key.clone(), in_order(value));
            }
            Value::frozen_dict(builder.build())
        }
        other => other.clone(),
    }
}

/// Nothing, then numbers, then text, then anything else.
pub(crate) fn compare_keys(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => 1,
        Value::Str(_) => 2,
        _ => 3,
    };
    let number = |value: &Value| match value {
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        _ => f64::INFINITY,
    };
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)).then_with(|| number(a).total_cmp(&number(b))),
    }
}

/// A state as one node sees it.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub common: Document,
    pub node: Document,
}

impl State {
    /// `$`: the node's own document over the common one.
    pub fn document(&self) -> Value {
        overlay(&self.common.0, &self.node.0)
    }
}

/// What the master has of its own, unless somebody says otherwise.
pub fn master_document() -> Document {
    let roles = Value::tuple(vec![Value::from(MASTER)]);
    Document::new(&Value::frozen_dict(Map::from_strings([("roles", roles), ("uid", Value::from(MASTER))])))
}

/// Lays one document over another: maps are merged key by key, anything else is taken from the upper one. Keys stay
/// in order, so that it cannot be seen which of the two had a key.
pub(crate) fn overlay(lower: &Value, upper: &Value) -> Value {
    let (Some(lower_map), Some(upper_map)) = (lower.as_map(), upper.as_map()) else { return upper.clone() };
    if upper_map.is_empty() {
        return lower.clone();
    }
    if lower_map.is_empty() {
        return upper.clone();
    }
    let mut builder = MapBuilder::with_capacity(lower_map.len() + upper_map.len());
    let mut above = upper_map.iter_keys().zip(upper_map.iter().map(|(_, value)| value)).peekable();
    for (key, (name, value)) in lower_map.iter_keys().zip(lower_map.iter()) {
        while let Some((key, value)) =
            above.next_if(|(above, _)| compare_keys(above.value(), name) == Ordering::Less)
        {
            builder.insert_key(key.clone(), value.clone());
        }
        match above.next_if(|(above, _)| above.value().equals(name)) {
            Some((_, over)) => builder.insert_key(key.clone(), overlay(value, over)),
            None => builder.insert_key(key.clone(), value.clone()),
        }
    }
    for (key, value) in above {
        builder.insert_key(key.clone(), value.clone());
    }
    Value::frozen_dict(builder.build())
}

/// The state with which each task last succeeded on each node.
///
/// Nearly all tasks of a node succeeded last in the same run, so a node has one state and exceptions from it.
#[derive(Clone, Debug, Default)]
pub struct OldStates {
    states: Vec<State>,
    by_node: HashMap<String, NodePast>,
}

/// An index into the states that are known.
pub(crate) type StateIdx = u32;

#[derive(Clone, Debug, Default)]
pub(crate) struct NodePast {
    pub(crate) usual: Option<StateIdx>,
    pub(crate) by_task: HashMap<String, Option<StateIdx>>,
}

impl OldStates {
    /// Says what every task of a node succeeded with, except where [`OldStates::set_task`] says otherwise.
    pub fn set_node(&mut self, uid: &str, state: State) {
        let state_idx = self.add(state);
        self.by_node.entry(uid.to_owned()).or_default().usual = Some(state_idx);
    }

    /// Says what one task succeeded with on one node; nothing, if it never did.
    pub fn set_task(&mut self, task: &str, uid: &str, state: Option<State>) {
        let state_idx = state.map(|state| self.add(state));
        self.by_node.entry(uid.to_owned()).or_default().by_task.insert(task.to_owned(), state_idx);
    }

    /// The same for tasks that share a state: it is kept once.
    pub fn set_tasks<'t>(
        &mut self,
        tasks: impl IntoIterator<Item = &'t str>,
        uid: &str,
        state: Option<State>,
    ) {
        let state_idx = state.map(|state| self.add(state));
        let by_task = &mut self.by_node.entry(uid.to_owned()).or_default().by_task;
        by_task.extend(tasks.into_iter().map(|task| (task.to_owned(), state_idx)));
    }

    fn add(&mut self, state: State) -> StateIdx {
        self.states.push(state);
        self.states.len() as StateIdx - 1
    }

    pub(crate) fn states(&self) -> &[State] {
        &self.states
    }

    pub(crate) fn past(&self, uid: &str) -> Option<&NodePast> {
        self.by_node.get(uid)
    }

    pub(crate) fn pasts(&self) -> impl Iterator<Item = (&String, &NodePast)> {
        self.by_node.iter()
    }

    /// The state with which a task last succeeded on a node.
    pub fn state(&self, task: &str, uid: &str) -> Option<&State> {
        let past = self.by_node.get(uid)?;
        let state_idx = past.by_task.get(task).copied().unwrap_or(past.usual)?;
        self.states.get(state_idx as usize)
    }
}

#[cfg(test)]
mod tests {
    use stoker_yaql::json::{WriteOptions, parse, write};

    use super::*;

    fn document(text: &str) -> Document {
        Document::new(&parse(text).unwrap())
    }

    fn check(lower: &str, upper: &str, expected: &str) {
        let state = State { common: document(lower), node: document(upper) };
        assert_eq!(write(&state.document(), &WriteOptions::default()).unwrap(), expected);
    }

    #[test]
    fn maps_merge_and_all_else_is_replaced() {
        check(r#"{"a": 1, "b": 2}"#, r#"{"b": 3}"#, r#"{"a": 1, "b": 3}"#);
        let merged = r#"{"a": {"x": 1, "y": {"w": 3, "z": 2}}}"#;
        check(r#"{"a": {"x": 1, "y": {"z": 2}}}"#, r#"{"a": {"y": {"w": 3}}}"#, merged);
        check(r#"{"a": [1, 2]}"#, r#"{"a": [3]}"#, r#"{"a": [3]}"#);
        check(r#"{"a": {"x": 1}}"#, r#"{"a": null}"#, r#"{"a": null}"#);
    }

    #[test]
    fn keys_are_in_order_whoever_has_them() {
        check(
            r#"{"d": 1, "b": {"y": 1, "x": 2}}"#,
            r#"{"e": 3, "c": 4, "a": 5}"#,
            r#"{"a": 5, "b": {"x": 2, "y": 1}, "c": 4, "d": 1, "e": 3}"#,
        );
    }

    #[test]
    fn what_is_beneath_is_shared() {
        let state = State {
            common: document(r#"{"large": {"x": [1, 2, 3]}, "own": 1}"#),
            node: document(r#"{"own": 2}"#),
        };
        let part =
            |value: &Value| value.as_map().unwrap().get_str("large").unwrap().as_map().unwrap().clone();
        assert!(std::sync::Arc::ptr_eq(&part(state.common.value()), &part(&state.document())));
    }

    #[test]
    fn a_task_may_have_another_past_than_its_node() {
        let state = |text: &str| State { common: document(text), node: Document::default() };
        let mut old = OldStates::default();
        old.set_node("1", state("{\"a\": 1}"));
        old.set_task("late", "1", Some(state("{\"a\": 2, \"b\": 3}")));
        old.set_task("never", "1", None);
        let found =
            |task: &str, uid: &str| old.state(task, uid).map(|state| state.common.value().sized_len());
        assert_eq!((found("any", "1"), found("late", "1")), (Some(Some(1)), Some(Some(2))));
        assert_eq!((found("never", "1"), found("any", "2")), (None, None));
    }
}
