//! The state of a cluster: a document common to all nodes, and one own document per node.
//!
//! A node sees its own document overlaid on the common one. Both are immutable and shared: an overlay copies
//! only the maps on paths where both documents have entries, independent of their size.

mod shared;

use std::cmp::Ordering;
use std::sync::LazyLock;

use stoker_model::AgentUid;
use stoker_yaql::Value;
use stoker_yaql::value::{Key, Map, MapBuilder};

pub use shared::DocumentInterner;

/// The node that runs the control plane.
pub const MASTER: &str = AgentUid::MASTER;
/// The virtual node that stages are on.
pub const SYNC: &str = "sync";

static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::frozen_dict(Map::builder().build()));

/// A part of a state, with the keys of all its maps sorted.
///
/// Expressions can observe the order of keys (`$.nodes.values()`), and documents with equal content must not
/// be distinguishable. Sorting costs one traversal when the document is created.
#[derive(Clone, Debug)]
pub struct Document(Value);

impl Document {
    /// A value that is not a map gives an empty document.
    pub fn new(value: &Value) -> Self {
        if value.as_map().is_some() { Self(sort_keys(value)) } else { Self::default() }
    }

    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The value under a top-level key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_map()?.get_str(key)
    }

    /// The top-level entries; a document is always a map.
    pub fn map(&self) -> Option<&Map> {
        self.0.as_map().map(|map| &**map)
    }
}

impl Default for Document {
    fn default() -> Self {
        Self(EMPTY.clone())
    }
}

/// Sorts all keys, and normalizes lists and maps to the immutable types of parsed data.
fn sort_keys(value: &Value) -> Value {
    match value {
        Value::Tuple(items) | Value::List(items) => Value::tuple(items.iter().map(sort_keys).collect()),
        Value::FrozenDict(map) | Value::Dict(map) => {
            let mut entries: Vec<(&Key, &Value)> =
                map.iter_keys().zip(map.iter()).map(|(key, (_, value))| (key, value)).collect();
            entries.sort_by(|(a, _), (b, _)| compare_keys(a.value(), b.value()));
            let mut builder = MapBuilder::with_capacity(entries.len());
            for (key, value) in entries {
                builder.insert_key(key.clone(), sort_keys(value));
            }
            Value::frozen_dict(builder.build())
        }
        other => other.clone(),
    }
}

/// Orders keys: null, numbers, text, then all other types.
pub fn compare_keys(a: &Value, b: &Value) -> Ordering {
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
pub struct EffectiveState {
    pub common: Document,
    pub node: Document,
}

impl EffectiveState {
    /// The value of `$`: the node's own document overlaid on the common one.
    pub fn document(&self) -> Value {
        overlay(&self.common.0, &self.node.0)
    }
}

/// The default own document of the master.
pub fn master_document() -> Document {
    let roles = Value::tuple(vec![Value::from(MASTER)]);
    Document::new(&Value::frozen_dict(Map::from_strings([("roles", roles), ("uid", Value::from(MASTER))])))
}

/// Overlays one document on another: maps are merged recursively, any other value is taken from `upper`. Keys
/// stay sorted, so the origin of a key cannot be observed.
pub fn overlay(lower: &Value, upper: &Value) -> Value {
    let (Some(lower_map), Some(upper_map)) = (lower.as_map(), upper.as_map()) else { return upper.clone() };
    if upper_map.is_empty() {
        return lower.clone();
    }
    if lower_map.is_empty() {
        return upper.clone();
    }
    let mut builder = MapBuilder::with_capacity(lower_map.len() + upper_map.len());
    let mut upper_entries = upper_map.iter_keys().zip(upper_map.iter().map(|(_, value)| value)).peekable();
    for (key, (name, value)) in lower_map.iter_keys().zip(lower_map.iter()) {
        while let Some((key, value)) =
            upper_entries.next_if(|(upper_key, _)| compare_keys(upper_key.value(), name) == Ordering::Less)
        {
            builder.insert_key(key.clone(), value.clone());
        }
        match upper_entries.next_if(|(upper_key, _)| upper_key.value().equals(name)) {
            Some((_, upper_value)) => builder.insert_key(key.clone(), overlay(value, upper_value)),
            None => builder.insert_key(key.clone(), value.clone()),
        }
    }
    for (key, value) in upper_entries {
        builder.insert_key(key.clone(), value.clone());
    }
    Value::frozen_dict(builder.build())
}

#[cfg(test)]
mod tests {
    use stoker_yaql::json::{WriteOptions, parse, write};

    use super::*;

    fn document(text: &str) -> Document {
        Document::new(&parse(text).unwrap())
    }

    fn check(lower: &str, upper: &str, expected: &str) {
        let state = EffectiveState { common: document(lower), node: document(upper) };
        assert_eq!(write(&state.document(), &WriteOptions::default()).unwrap(), expected);
    }

    #[test]
    fn overlay_merges_maps_and_replaces_other_values() {
        check(r#"{"a": 1, "b": 2}"#, r#"{"b": 3}"#, r#"{"a": 1, "b": 3}"#);
        let merged = r#"{"a": {"x": 1, "y": {"w": 3, "z": 2}}}"#;
        check(r#"{"a": {"x": 1, "y": {"z": 2}}}"#, r#"{"a": {"y": {"w": 3}}}"#, merged);
        check(r#"{"a": [1, 2]}"#, r#"{"a": [3]}"#, r#"{"a": [3]}"#);
        check(r#"{"a": {"x": 1}}"#, r#"{"a": null}"#, r#"{"a": null}"#);
    }

    #[test]
    fn overlay_keeps_keys_sorted() {
        check(
            r#"{"d": 1, "b": {"y": 1, "x": 2}}"#,
            r#"{"e": 3, "c": 4, "a": 5}"#,
            r#"{"a": 5, "b": {"x": 2, "y": 1}, "c": 4, "d": 1, "e": 3}"#,
        );
    }

    #[test]
    fn overlay_shares_unchanged_parts() {
        let state = EffectiveState {
            common: document(r#"{"large": {"x": [1, 2, 3]}, "own": 1}"#),
            node: document(r#"{"own": 2}"#),
        };
        let part =
            |value: &Value| value.as_map().unwrap().get_str("large").unwrap().as_map().unwrap().clone();
        assert!(std::sync::Arc::ptr_eq(&part(state.common.value()), &part(&state.document())));
    }
}
