//! Splits complete node documents into a common document and one own document per node.

use stoker_state::Document;
use stoker_yaql::Value;
use stoker_yaql::value::{Key, Map, MapBuilder};

/// The common document, and the own documents in input order.
#[derive(Clone, Debug, Default)]
pub struct SplitDocuments {
    pub common: Document,
    pub own: Vec<Document>,
}

/// Splits documents by top-level key. A key that all documents have with equal values is common, except
/// `uid`, which identifies a node even if there is only one. `1` and `true` are equal but print differently:
/// a document whose value is equal but not identical to the first one's keeps it in its own document.
pub fn split_common(documents: &[Value]) -> SplitDocuments {
    let maps: Vec<&Map> = documents.iter().filter_map(Value::as_map).map(|map| &**map).collect();
    let Some((first, others)) = maps.split_first() else { return SplitDocuments::default() };
    let is_common = |key: &Key, value: &Value| {
        key.value().as_str() != Some("uid")
            && others
                .iter()
                .all(|other| other.get_key(key).is_some_and(|other_value| other_value.equals(value)))
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
            || first.get_key(key).is_none_or(|other_value| other_value.identity() != value.identity())
    };
    SplitDocuments {
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
        let parts = split_common(&documents);
        let text = |document: &Document| write(document.value(), &WriteOptions::default()).unwrap();
        assert_eq!(text(&parts.common), common);
        assert_eq!(parts.own.iter().map(text).collect::<Vec<_>>(), own);
    }

    #[test]
    fn keys_with_equal_values_are_common() {
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
