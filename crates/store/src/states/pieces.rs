//! Splits documents into pieces and reassembles them.

use std::fmt;

use stoker_model::{Json, JsonMap};

/// Values up to this size stay inline: a row of their own would cost more than it saves.
const SMALL_BYTES_MAX: usize = 512;
/// Values from this size on are split one level further.
const LARGE_BYTES_MIN: usize = 8 << 10;
/// List items per piece.
const ITEMS_PER_PIECE: usize = 64;

/// A document with its digest. Computing the digest traverses the document, so create it before opening a
/// write transaction, for which other writers wait.
#[derive(Clone, Debug, PartialEq)]
pub struct StateDocument {
    pub(super) digest: String,
    content: JsonMap,
}

impl StateDocument {
    pub fn new(content: JsonMap) -> Self {
        let mut text = String::new();
        write_map(&content, &mut text);
        Self { digest: digest_of(&text), content }
    }

    pub fn content(&self) -> &JsonMap {
        &self.content
    }
}

/// A document split into pieces.
#[derive(Debug, PartialEq)]
pub(super) struct Pieces {
    /// The document without its large values.
    pub(super) small: JsonMap,
    pub(super) large: Vec<Piece>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) path: Path,
    pub(super) digest: String,
    pub(super) content: String,
}

pub(super) fn pieces(document: &JsonMap) -> Pieces {
    let mut pieces = Pieces { small: JsonMap::new(), large: Vec::new() };
    for (key, value) in document {
        let content = canonical(value);
        match value {
            _ if content.len() <= SMALL_BYTES_MAX => _ = pieces.small.insert(key.clone(), value.clone()),
            Json::Object(map) if content.len() >= LARGE_BYTES_MIN => pieces.add_map(key, map),
            Json::Array(items) if content.len() >= LARGE_BYTES_MIN => pieces.add_list(key, items),
            _ => pieces.add(Path::Key(key.clone()), content),
        }
    }
    pieces
}

impl Pieces {
    fn add(&mut self, path: Path, content: String) {
        self.large.push(Piece { path, digest: digest_of(&content), content });
    }

    fn add_map(&mut self, key: &str, map: &JsonMap) {
        let mut small = JsonMap::new();
        for (inner, value) in map {
            let content = canonical(value);
            if content.len() <= SMALL_BYTES_MAX {
                small.insert(inner.clone(), value.clone());
            } else {
                self.add(Path::Inner(key.to_owned(), inner.clone()), content);
            }
        }
        self.small.insert(key.to_owned(), Json::Object(small));
    }

    fn add_list(&mut self, key: &str, items: &[Json]) {
        for (number, chunk) in (0..).zip(items.chunks(ITEMS_PER_PIECE)) {
            let mut content = String::from("[");
            for (item_idx, item) in chunk.iter().enumerate() {
                content.push_str(if item_idx == 0 { "" } else { "," });
                write(item, &mut content);
            }
            content.push(']');
            self.add(Path::Items(key.to_owned(), number), content);
        }
    }
}

/// Inserts a piece into a document. Chunks of a list must come in order. Fails if the piece does not fit the
/// document.
pub(super) fn put(document: &mut JsonMap, path: &Path, content: Json) -> Result<(), &'static str> {
    match (path, content) {
        (Path::Key(key), content) => _ = document.insert(key.clone(), content),
        (Path::Inner(key, inner), content) => {
            let map = document.entry(key.as_str()).or_insert_with(|| Json::Object(JsonMap::new()));
            let Json::Object(map) = map else { return Err("the parent of a piece is not a map") };
            map.insert(inner.clone(), content);
        }
        (Path::Items(key, _), Json::Array(items)) => {
            let list = document.entry(key.as_str()).or_insert_with(|| Json::Array(Vec::new()));
            let Json::Array(list) = list else { return Err("the parent of a piece is not a list") };
            list.extend(items);
        }
        (Path::Items(..), _) => return Err("a chunk of a list is not a list"),
    }
    Ok(())
}

/// Position of a piece in its document: the key, optionally followed by a nested key or the number of the list
/// chunk. Chunks of one list sort by number. Stored as a JSON array.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Path {
    Key(String),
    Inner(String, String),
    Items(String, u64),
}

impl Path {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let keys: Vec<Json> = serde_json::from_str(text).ok()?;
        Some(match &keys[..] {
            [Json::String(key)] => Self::Key(key.clone()),
            [Json::String(key), Json::String(inner)] => Self::Inner(key.clone(), inner.clone()),
            [Json::String(key), Json::Number(number)] => Self::Items(key.clone(), number.as_u64()?),
            _ => return None,
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "[{}]", Json::from(key.as_str())),
            Self::Inner(key, inner) => {
                write!(f, "[{},{}]", Json::from(key.as_str()), Json::from(inner.as_str()))
            }
            Self::Items(key, number) => write!(f, "[{},{number}]", Json::from(key.as_str())),
        }
    }
}

fn digest_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Canonical JSON with sorted keys: equal values give equal text.
fn canonical(value: &Json) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Json, text: &mut String) {
    match value {
        Json::Array(items) => {
            text.push('[');
            for (item_idx, item) in items.iter().enumerate() {
                text.push_str(if item_idx == 0 { "" } else { "," });
                write(item, text);
            }
            text.push(']');
        }
        Json::Object(map) => write_map(map, text),
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn write_map(map: &JsonMap, text: &mut String) {
    let mut entries: Vec<(&String, &Json)> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    text.push('{');
    for (entry_idx, (key, value)) in entries.into_iter().enumerate() {
        text.push_str(if entry_idx == 0 { "" } else { "," });
        text.push_str(&Json::from(key.as_str()).to_string());
        text.push(':');
        write(value, text);
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn reassemble(pieces: &Pieces) -> JsonMap {
        let mut document = pieces.small.clone();
        let mut large: Vec<(Path, &str)> = pieces
            .large
            .iter()
            .map(|piece| (Path::parse(&piece.path.to_string()).unwrap(), piece.content.as_str()))
            .collect();
        large.sort();
        for (path, content) in large {
            put(&mut document, &path, serde_json::from_str(content).unwrap()).unwrap();
        }
        document
    }

    fn value() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<i64>().prop_map(Json::from),
            "[a-z\"\\\\é]{0,40}".prop_map(Json::from),
            (300_usize..1200).prop_map(|n_bytes| Json::from("x".repeat(n_bytes))),
        ];
        leaf.prop_recursive(3, 64, 40, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..80).prop_map(Json::Array),
                prop::collection::btree_map("[a-z]{1,3}", inner, 0..30)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn split_document_reassembles(map in prop::collection::btree_map("[a-z]{1,3}", value(), 0..8)) {
            let document: JsonMap = map.into_iter().collect();
            let split_pieces = pieces(&document);
            prop_assert_eq!(&reassemble(&split_pieces), &document);
            let reversed: JsonMap = document.into_iter().rev().collect();
            let digest = |document: JsonMap| StateDocument::new(document).digest;
            prop_assert_eq!(digest(reversed), digest(reassemble(&split_pieces)));
        }
    }

    #[test]
    fn one_change_affects_one_piece() {
        let record = |number: usize| json!({"uid": number.to_string(), "name": format!("node-{number}"), "pad": "x".repeat(100)});
        let document = |changed: usize| {
            let nodes: Vec<Json> = (0..500)
                .map(|number| if number == changed { json!({"uid": "other"}) } else { record(number) })
                .collect();
            let settings: JsonMap =
                (0..50).map(|number| (format!("s{number}"), Json::from("y".repeat(600)))).collect();
            let Json::Object(document) = json!({"nodes": nodes, "settings": settings, "debug": true}) else {
                unreachable!()
            };
            pieces(&document)
        };
        let (one, other) = (document(3), document(4));
        assert_eq!(one.small, other.small);
        assert_eq!((one.small["debug"].clone(), one.large.len()), (json!(true), 50 + 8));
        let differing = one.large.iter().zip(&other.large).filter(|(one, other)| one != other).count();
        assert_eq!(differing, 1);
        let far = document(400);
        assert_eq!(one.large.iter().zip(&far.large).filter(|(one, far)| one != far).count(), 2);
    }

    #[test]
    fn invalid_pieces_are_rejected() {
        assert_eq!(Path::parse("[1]"), None);
        assert_eq!(Path::parse("{}"), None);
        let mut document = JsonMap::from_iter([("a".to_owned(), json!(1))]);
        assert!(put(&mut document, &Path::Inner("a".into(), "b".into()), json!(1)).is_err());
        assert!(put(&mut document, &Path::Items("a".into(), 0), json!([1])).is_err());
        assert!(put(&mut document, &Path::Items("b".into(), 0), json!(1)).is_err());
    }
}
