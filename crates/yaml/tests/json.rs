//! Differential test of the JSON parser against `serde_json`, on valid, slightly invalid and random texts.

use std::fs;

use proptest::prelude::*;
use serde_json::Value;
use stoker_yaml::{LoadLimits, Node, NodeKind, Scalar, json};

/// Converts a tree to the value that `serde_json` would return.
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
            Scalar::Timestamp(_) => panic!("JSON has no dates"),
        },
        NodeKind::Seq(items) => items.iter().map(value_of).collect(),
        NodeKind::Map(entries) => entries
            .iter()
            .map(|(key, value)| (key.as_str().expect("text").to_owned(), value_of(value)))
            .collect(),
    }
}

/// Checks that both parsers accept the text with equal results, or both reject it. Only ours rejects
/// duplicate keys.
fn check(text: &str) {
    let loaded = json::load(text, &LoadLimits::default());
    let is_accepted = loaded
        .problems
        .iter()
        .all(|problem| [json::codes::DUPLICATE_KEY, json::codes::LIMIT].contains(&&*problem.code));
    match serde_json::from_str::<Value>(text) {
        Ok(expected) => {
            assert!(is_accepted, "{text:?}: {:?}", loaded.problems);
            for document in &loaded.documents {
                assert!(is_same(&value_of(&document.root), &expected), "{text:?}");
                check_spans(&document.root, text);
            }
        }
        Err(error) => assert!(!is_accepted, "{text:?} was read, but: {error}"),
    }
}

/// Compares values, with a tolerance for floats: `serde_json` does not round all floats correctly.
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

/// Checks that the source text of each node parses to the node.
fn check_spans(node: &Node, text: &str) {
    let slice = node.span.slice(text);
    let again = json::load(slice, &LoadLimits::default());
    assert_eq!(again.documents.len(), 1, "{slice:?} in {text:?}");
    assert_eq!(value_of(&again.documents[0].root), value_of(node), "{slice:?} in {text:?}");
    let before = text[..node.span.start.offset as usize].replace("\r\n", "\n").replace('\r', "\n");
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let expected = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    assert_eq!((node.span.start.line as usize, node.span.start.column as usize), expected, "{text:?}");
    match &node.kind {
        NodeKind::Scalar(_) => {}
        NodeKind::Seq(items) => items.iter().for_each(|item| check_spans(item, text)),
        NodeKind::Map(entries) => entries.iter().for_each(|(_, value)| check_spans(value, text)),
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

/// Generates random sequences of fragments that are significant in JSON.
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
    fn serialized_values_round_trip(value in values()) {
        check(&serde_json::to_string(&value).unwrap());
        check(&serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn truncated_and_corrupted_texts(value in values(), at in any::<prop::sample::Index>(), inserted in pieces()) {
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
fn real_files_parse_identically() {
    let read = |name: &str| fs::read_to_string(stoker_testenv::shared_data(name)?).ok();
    for name in ["expected/plans.json", "expected/yaql-results.json", "yaql/bench.json"] {
        let Some(text) = read(name) else { continue };
        let loaded = json::load(&text, &LoadLimits::default());
        assert_eq!(loaded.problems, [], "{name}");
        assert_eq!(
            value_of(&loaded.documents[0].root),
            serde_json::from_str::<Value>(&text).unwrap(),
            "{name}"
        );
    }
}
