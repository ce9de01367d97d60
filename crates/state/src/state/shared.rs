//! Interning of equal parts of documents.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use stoker_yaql::Value;
use stoker_yaql::value::{ExactDigest, Key, MapBuilder};

use super::{Document, compare_keys};

/// Creates documents whose equal parts share one allocation.
///
/// The nodes of a fleet have the same keys and mostly equal values, and most values do not change between two
/// plans. Interning reduces the memory of a fleet to a fraction, and shared parts compare by address.
#[derive(Debug, Default)]
pub struct DocumentInterner {
    texts: HashSet<Arc<str>>,
    parts: HashMap<ExactDigest, Value>,
}

impl DocumentInterner {
    /// Like [`Document::new`], with equal parts interned.
    pub fn document(&mut self, value: &Value) -> Document {
        if value.as_map().is_some() { Document(self.intern(value)) } else { Document::default() }
    }

    fn intern(&mut self, value: &Value) -> Value {
        let interned = match value {
            Value::Str(text) => return Value::Str(self.intern_text(text)),
            Value::Tuple(items) | Value::List(items) => {
                Value::tuple(items.iter().map(|item| self.intern(item)).collect())
            }
            Value::FrozenDict(map) | Value::Dict(map) => {
                let mut entries: Vec<(&Key, &Value)> =
                    map.iter_keys().zip(map.iter()).map(|(key, (_, value))| (key, value)).collect();
                entries.sort_by(|(a, _), (b, _)| compare_keys(a.value(), b.value()));
                let mut builder = MapBuilder::with_capacity(entries.len());
                for (key, value) in entries {
                    builder.insert_key(self.intern_key(key), self.intern(value));
                }
                Value::frozen_dict(builder.build())
            }
            other => return other.clone(),
        };
        self.parts.entry(interned.identity()).or_insert(interned).clone()
    }

    fn intern_key(&mut self, key: &Key) -> Key {
        match key.value() {
            Value::Str(text) => Key::new(Value::Str(self.intern_text(text))).unwrap_or_else(|_| key.clone()),
            _ => key.clone(),
        }
    }

    fn intern_text(&mut self, text: &Arc<str>) -> Arc<str> {
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

    fn document(shared: &mut DocumentInterner, text: &str) -> Document {
        shared.document(&parse(text).unwrap())
    }

    fn text(document: &Document) -> String {
        write(document.value(), &WriteOptions::default()).unwrap()
    }

    fn shares_value(a: &Document, b: &Document, key: &str) -> bool {
        let part = |document: &Document| document.get(key).unwrap().as_map().unwrap().clone();
        Arc::ptr_eq(&part(a), &part(b))
    }

    #[test]
    fn interned_document_equals_plain_document() {
        let mut shared = DocumentInterner::default();
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
    fn only_identical_parts_are_shared() {
        let mut shared = DocumentInterner::default();
        let first =
            document(&mut shared, r#"{"uid": "1", "same": {"a": [1], "b": "x"}, "near": {"on": true}}"#);
        let second =
            document(&mut shared, r#"{"uid": "2", "same": {"b": "x", "a": [1]}, "near": {"on": 1}}"#);
        assert!(shares_value(&first, &second, "same"));
        assert!(!shares_value(&first, &second, "near"));
    }
}
