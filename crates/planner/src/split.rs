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
/// where there is only one. `1` and `true` are equal to expressions and not the same to whoever prints them, so that a
/// document with another spelling than the first keeps its own over what is common.
pub fn split(documents: &[Value]) -> Split {
    let maps: Vec<&Map> = documents.iter().filter_map(Value::as_map).map(|map| &**map).collect();
    let Some((first, others)) = maps.split_first() else { return Split::default() };
    let is_common = |key: &Key, value: &Value| {
        key.value().as_str() != Some("uid")
            && others.iter().all(|other| other.get_key(key).is_some_and(|beside| beside.equals(value)))
    };
    let entries = || first.iter_keys().zip(first.iter().map(|(_, value)| value));
    let common: Vec<&Key> =
        entries().filter(|(key, value)| is_common(key, value)).map(|(key, _)| key).collect();
    let part = |map: &Map, is_wanted: &dyn Fn(&Key, &Value) -> bool| {
        let mut builder = MapBuilder::default();
        for (key, (_, value)) in map.iter_keys().zip(map.iter()) {
            if is_wanted(key, value) {
                builder.insert_key(key.clone(), value.clone());
            }
        }
        Document::new(&Value::frozen_dict(builder.build()))
    };
    let is_own = |key: &Key, value: &Value| {
        !common.contains(&key)
            || first.get_key(key).is_none_or(|beside| beside.identity() != value.identity())
    };
    Split {
        common: part(first, &|key, _| common.contains(&key)),
        own: maps.iter().map(|map| part(map, &is_own)).collect(),
    }
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
            r#"{"a": 1, "b": [0]}"#,
            &[r#"{"uid": "1"}"#, r#"{"a": true, "uid": "2"}"#],
        );
        check(&[], "{}", &[]);
    }
}
