//! JSON against another reader of it, on texts that are right, nearly right, and neither.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use stoker_yaml::{Limits, Node, NodeKind, Scalar, json};

/// What the other reader would have made of this tree.
fn value_of(node: &Node) -> Value {
    match &node.kind {
        NodeKind::Scalar(scalar) => match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(flag) => Value::from(*flag),
            Scalar::Int(number) => Value::from(*number),
            Scalar::BigInt(number) => u64::try_from(&**number).map_or_else(
                |_| Value::from(number.to_string().parse::<f64>().expect("a number")),
                Value::from,
            ),
            Scalar::Float(number) => Value::from(*number),
            Scalar::Str(text) => Value::from(&**text),
            Scalar::Timestamp(_) => panic!("there are no dates in JSON"),
        },
        NodeKind::Seq(items) => items.iter().map(value_of).collect(),
        NodeKind::Map(entries) => entries
            .iter()
            .map(|(key, value)| (key.as_str().expect("text").to_owned(), value_of(value)))
            .collect(),
    }
}

/// Both read it and agree, or neither does. Duplicate keys are the one thing only we refuse.
fn check(text: &str) {
    let loaded = json::load(text, &Limits::default());
    let is_fine = loaded
        .problems
        .iter()
        .all(|problem| [json::codes::DUPLICATE_KEY, json::codes::LIMIT].contains(&problem.code));
    match serde_json::from_str::<Value>(text) {
        Ok(expected) => {
            assert!(is_fine, "{text:?}: {:?}", loaded.problems);
            for document in &loaded.documents {
                assert!(is_same(&value_of(&document.root), &expected), "{text:?}");
                check_places(&document.root, text);
            }
        }
        Err(error) => assert!(!is_fine, "{text:?} was read, but: {error}"),
    }
}

/// Equal, floats to the last digit but one: the other reader rounds some of them wrongly.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            ours == theirs || (a - b).abs() <= a.abs().max(b.abs()) * 4.0 * f64::EPSILON + f64::MIN_POSITIVE
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && is_same(a.1, b.1))
        }
        _ => ours == theirs,
    }
}

/// The text at the place of a node is the node.
fn check_places(node: &Node, text: &str) {
    let slice = node.span.slice(text);
    let again = json::load(slice, &Limits::default());
    assert_eq!(again.documents.len(), 1, "{slice:?} in {text:?}");
    assert_eq!(value_of(&again.documents[0].root), value_of(node), "{slice:?} in {text:?}");
    let before = text[..node.span.start.offset as usize].replace("\r\n", "\n").replace('\r', "\n");
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let expected = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    assert_eq!((node.span.start.line as usize, node.span.start.column as usize), expected, "{text:?}");
    match &node.kind {
        NodeKind::Scalar(_) => {}
        NodeKind::Seq(items) => items.iter().for_each(|item| check_places(item, text)),
        NodeKind::Map(entries) => entries.iter().for_each(|(_, value)| check_places(value, text)),
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

/// Pieces that mean something to JSON, in any order.
fn pieces() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"a\":",
        "\"b\":1",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-",
        "1.5",
        "1e",
        "e5",
        "E+2",
        ".",
        "\\",
        "\\u",
        "\\ud83d",
        "\\ude00",
        "\\u0041",
        "\\n",
        "\\/",
        "ä",
        "😀",
        " ",
        "\n",
        "\r",
        "\t",
        "\0",
        "/",
        "NaN",
        "'",
        "18446744073709551616",
        "-9223372036854775809",
        "0.1e-400",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read(value in values()) {
        check(&serde_json::to_string(&value).unwrap());
        check(&serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn texts_cut_short_or_spoilt(value in values(), at in any::<prop::sample::Index>(), inserted in pieces()) {
        let text = serde_json::to_string(&value).unwrap();
        let at = text.floor_char_boundary(at.index(text.len()));
        check(&text[..at]);
        check(&format!("{}{inserted}{}", &text[..at], &text[at..]));
    }

    #[test]
    fn random_pieces(text in pieces()) {
        check(&text);
    }

    #[test]
    fn random_texts(text in any::<String>()) {
        check(&text);
    }
}

#[test]
fn real_files_are_read_alike() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    for name in ["expected/plans.json", "expected/yaql-results.json", "yaql/bench.json"] {
        let Ok(text) = fs::read_to_string(folder.join(name)) else { continue };
        let loaded = json::load(&text, &Limits::default());
        assert_eq!(loaded.problems, [], "{name}");
        assert_eq!(
            value_of(&loaded.documents[0].root),
            serde_json::from_str::<Value>(&text).unwrap(),
            "{name}"
        );
    }
}
