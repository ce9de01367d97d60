//! Whole documents of nodes taken apart into what they have in common and what is their own.

use stoker_yaql::Value;
use stoker_yaql::value::{Key, Map, MapBuilder};

use crate::state::Document;

/// What some documents have in common, and beside each what is its own.
#[derive(Clone, Debug, Default)]
pub struct Split {
    pub common: Document,
    pub own: Vec<Document>,
}

/// A top-level key that all documents have with equal values is common, but never `uid`: it tells nodes apart even
/// where there is only one. `1` and `true` are equal to expressions and nevertheless not the same to whoever prints them,
/// so that they stay apart.
pub fn split(documents: &[Value]) -> Split {
    let maps: Vec<&Map> = documents.iter().filter_map(Value::as_map).map(|map| &**map).collect();
    let Some((first, others)) = maps.split_first() else { return Split::default() };
    let is_same = |a: &Value, b: &Value| a.equals(b) && a.identity() == b.identity();
    let is_common = |key: &Key, value: &Value| {
        key.value().as_str() != Some("uid")
            && others.iter().all(|other| other.get_key(key).is_some_and(|beside| is_same(beside, value)))
    };
    let entries = || first.iter_keys().zip(first.iter().map(|(_, value)| value));
    let common: Vec<&Key> =
        entries().filter(|(key, value)| is_common(key, value)).map(|(key, _)| key).collect();
    let part = |map: &Map, wants_common: bool| {
        let mut builder = MapBuilder::default();
        for (key, (_, value)) in map.iter_keys().zip(map.iter()) {
            if common.contains(&key) == wants_common {
                builder.insert_key(key.clone(), value.clone());
            }
        }
        Document::new(&Value::frozen_dict(builder.build()))
    };
    Split { common: part(first, true), own: maps.iter().map(|map| part(map, false)).collect() }
}

#[cfg(test)]
mod tests {
    use stoker_yaql::json::{WriteOptions, parse, write};

    use super::*;

    fn check(documents: &[&str], common: &str, own: &[&str]) {
        let documents: Vec<Value> = documents.iter().map(|text| parse(text).unwrap()).collect();
        let found = split(&documents);
        let text = |document: &Document| write(document.value(), &WriteOptions::default()).unwrap();
        assert_eq!(text(&found.common), common);
        assert_eq!(found.own.iter().map(text).collect::<Vec<_>>(), own);
    }

    #[test]
    fn equal_keys_are_common() {
        check(
            &[r#"{"uid": "1", "a": {"x": 1}, "b": 1}"#, r#"{"uid": "2", "a": {"x": 1}, "b": 2}"#],
            r#"{"a": {"x": 1}}"#,
            &[r#"{"b": 1, "uid": "1"}"#, r#"{"b": 2, "uid": "2"}"#],
        );
        check(&[r#"{"uid": "1", "a": 1}"#], r#"{"a": 1}"#, &[r#"{"uid": "1"}"#]);
        check(
            &[r#"{"uid": "1", "a": 1}"#, r#"{"uid": "2"}"#],
            "{}",
            &[r#"{"a": 1, "uid": "1"}"#, r#"{"uid": "2"}"#],
        );
        check(
            &[r#"{"uid": "1", "a": 1, "b": [0]}"#, r#"{"uid": "2", "a": true, "b": [0]}"#],
            r#"{"b": [0]}"#,
            &[r#"{"a": 1, "uid": "1"}"#, r#"{"a": true, "uid": "2"}"#],
        );
        check(&[], "{}", &[]);
    }
}
