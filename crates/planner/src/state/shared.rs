//! Documents of a fleet that share what is equal in them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use stoker_yaql::Value;
use stoker_yaql::value::{Identity, Key, MapBuilder};

use super::{Document, compare_keys};

/// Makes documents in which equal parts are one.
///
/// The nodes of a fleet have the same keys, and most of what is under them is the same too; what a node was before mostly
/// is what it still is. Kept once, a fleet takes a fraction of the memory, and two parts that are one are compared by
/// looking at where they are.
#[derive(Debug, Default)]
pub struct Shared {
    texts: HashSet<Arc<str>>,
    parts: HashMap<Identity, Value>,
}

impl Shared {
    /// Like [`Document::new`].
    pub fn document(&mut self, value: &Value) -> Document {
        if value.as_map().is_some() { Document(self.part(value)) } else { Document::default() }
    }

    fn part(&mut self, value: &Value) -> Value {
        let made = match value {
            Value::Str(text) => return Value::Str(self.text(text)),
            Value::Tuple(items) | Value::List(items) => {
                Value::tuple(items.iter().map(|item| self.part(item)).collect())
            }
            Value::FrozenDict(map) | Value::Dict(map) => {
                let mut entries: Vec<(&Key, &Value)> =
                    map.iter_keys().zip(map.iter()).map(|(key, (_, value))| (key, value)).collect();
                entries.sort_by(|(a, _), (b, _)| compare_keys(a.value(), b.value()));
                let mut builder = MapBuilder::with_capacity(entries.len());
                for (key, value) in entries {
                    builder.insert_key(self.key(key), self.part(value));
                }
                Value::frozen_dict(builder.build())
            }
            other => return other.clone(),
        };
        self.parts.entry(made.identity()).or_insert(made).clone()
    }

    fn key(&mut self, key: &Key) -> Key {
        match key.value() {
            Value::Str(text) => Key::new(Value::Str(self.text(text))).unwrap_or_else(|_| key.clone()),
            _ => key.clone(),
        }
    }

    fn text(&mut self, text: &Arc<str>) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        self.texts.insert(text.clone());
        text.clone()
    }
}

#[cfg(test)]
mod tests {
    use stoker_yaql::json::{WriteOptions, parse, write};

    use super::*;

    fn document(shared: &mut Shared, text: &str) -> Document {
        shared.document(&parse(text).unwrap())
    }

    fn text(document: &Document) -> String {
        write(document.value(), &WriteOptions::default()).unwrap()
    }

    fn is_one(a: &Document, b: &Document, key: &str) -> bool {
        let part = |document: &Document| document.get(key).unwrap().as_map().unwrap().clone();
        Arc::ptr_eq(&part(a), &part(b))
    }

    #[test]
    fn a_shared_document_is_what_it_would_be_alone() {
        let mut shared = Shared::default();
        for json in [
            r#"{"b": [1, {"d": "x", "c": "x"}], "a": null}"#,
            r#"{"b": [true, {"c": "x", "d": "x"}], "a": 1.5}"#,
            r#"{"b": [1.0, {"c": "x", "d": "x"}], "a": {}}"#,
            "{}",
            "[1]",
            "3",
        ] {
            let alone = Document::new(&parse(json).unwrap());
            assert_eq!(text(&document(&mut shared, json)), text(&alone));
        }
    }

    #[test]
    fn equal_parts_are_one_and_others_are_not() {
        let mut shared = Shared::default();
        let first =
            document(&mut shared, r#"{"uid": "1", "same": {"a": [1], "b": "x"}, "near": {"on": true}}"#);
        let second =
            document(&mut shared, r#"{"uid": "2", "same": {"b": "x", "a": [1]}, "near": {"on": 1}}"#);
        assert!(is_one(&first, &second, "same"));
        assert!(!is_one(&first, &second, "near"));
    }
}
