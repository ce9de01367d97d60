//! Checks the output, and that parsing it yields the same tree.

use std::sync::Arc;

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;
use crate::node::{Node, NodeKind, Scalar};
use crate::{LoadLimits, Span, load};

fn scalar(scalar: Scalar) -> Node {
    Node { kind: NodeKind::Scalar(scalar), span: Span::default() }
}

fn text(value: &str) -> Node {
    scalar(Scalar::Str(Arc::from(value)))
}

fn seq(items: Vec<Node>) -> Node {
    Node { kind: NodeKind::Seq(items.into()), span: Span::default() }
}

fn map(entries: Vec<(Node, Node)>) -> Node {
    Node { kind: NodeKind::Map(entries.into()), span: Span::default() }
}

/// Formats the tree without spans. NaN is normalized so that it compares equal.
fn format_node(node: &Node) -> String {
    match &node.kind {
        NodeKind::Scalar(Scalar::Float(value)) if value.is_nan() => "nan".to_owned(),
        NodeKind::Scalar(scalar) => format!("{scalar:?}"),
        NodeKind::Seq(items) => format!("{:?}", items.iter().map(format_node).collect::<Vec<_>>()),
        NodeKind::Map(entries) => {
            format!(
                "{:?}",
                entries.iter().map(|(key, value)| (format_node(key), format_node(value))).collect::<Vec<_>>()
            )
        }
    }
}

fn check_round_trip(node: &Node) -> String {
    let yaml = to_yaml(node);
    let loaded = load(&yaml, &LoadLimits::default());
    assert_eq!(loaded.problems, [], "{yaml}");
    assert_eq!(loaded.documents.len(), 1, "{yaml}");
    assert_eq!(format_node(&loaded.documents[0].root), format_node(node), "{yaml}");
    yaml
}

#[track_caller]
fn check(node: &Node, expected: &str) {
    assert_eq!(check_round_trip(node), expected);
}

#[test]
fn plain_text_stays_plain() {
    for value in [
        "a",
        "a b",
        "-a",
        "a-b",
        "a:b",
        "a#b",
        "http://x/y?z",
        "é",
        "a, b",
        "/dev/sd[a]",
        "it's",
        "1.2.3",
        "<% x %>",
    ] {
        check(&text(value), &format!("{value}\n"));
    }
}

#[test]
fn ambiguous_text_is_quoted() {
    let values = "yes No on OFF true null ~ y N 1 -1 0644 0o17 0x1f 1_000 1:30 1.5 1e3 .5 .inf .nan 2016-01-02 \
                  = << - ? : [a {a *a &a !a |a >a %a @a `a \"a #a ,a --- ... ---a a: -- -[";
    for value in values.split_whitespace() {
        check(&text(value), &format!("'{value}'\n"));
    }
    check(&text(""), "''\n");
    check(&text(" a"), "' a'\n");
    check(&text("a "), "'a '\n");
    check(&text("a: b"), "'a: b'\n");
    check(&text("a #b"), "'a #b'\n");
    check(&text("'a"), "'''a'\n");
}

#[test]
fn unprintable_characters_are_escaped() {
    check(&text("a\tb"), "\"a\\tb\"\n");
    check(&text("\0\u{7f}\u{85}\u{a0}"), "\"\\x00\\x7f\\x85\\xa0\"\n");
    check(&text("\u{2028}\u{feff}\u{e000}"), "\"\\u2028\\ufeff\u{e000}\"\n");
    check(&text("\r\n\"\\"), "\"\\r\\n\\\"\\\\\"\n");
    check(&text("😀"), "😀\n");
}

#[test]
fn multi_line_text_is_a_block_scalar() {
    check(&text("a\nb"), "|-\n  a\n  b\n");
    check(&text("a\n\n  b\n"), "|\n  a\n\n    b\n");
    check(&text("a\n\n\n"), "|+\n  a\n\n\n");
    check(
        &map(vec![(text("k"), text("# a\n--- b\n\n")), (text("l"), text("x"))]),
        "k: |+\n  # a\n  --- b\n\nl: x\n",
    );
    check(&seq(vec![text("a\nb"), seq(vec![text("c\n")])]), "- |-\n  a\n  b\n- - |\n    c\n");
    check(&text(" a\nb"), "\" a\\nb\"\n");
    check(&text("a\n \nb"), "\"a\\n \\nb\"\n");
    check(&text("\n"), "\"\\n\"\n");
}

#[test]
fn collections() {
    check(&seq(vec![]), "[]\n");
    check(&map(vec![]), "{}\n");
    let inner =
        map(vec![(text("a"), scalar(Scalar::Int(1))), (text("b"), seq(vec![text("x"), map(vec![])]))]);
    check(&inner, "a: 1\nb:\n  - x\n  - {}\n");
    check(
        &seq(vec![inner.clone(), seq(vec![text("u"), text("v")])]),
        "- a: 1\n  b:\n    - x\n    - {}\n- - u\n  - v\n",
    );
    check(&map(vec![(text("m"), inner)]), "m:\n  a: 1\n  b:\n    - x\n    - {}\n");
}

#[test]
fn keys() {
    let keys =
        [Scalar::Null, Scalar::Bool(true), Scalar::Int(2), Scalar::Float(1.5), Scalar::Str("a\nb".into())];
    let entries = keys.map(|key| (scalar(key), text("v")));
    check(&map(entries.into()), "null: v\ntrue: v\n2: v\n1.5: v\n\"a\\nb\": v\n");
    let long = "k".repeat(2000);
    check(&seq(vec![map(vec![(text(&long), seq(vec![text("v")]))])]), &format!("- ? {long}\n  :\n    - v\n"));
}

#[test]
fn numbers() {
    let check_scalar = |value: Scalar, expected: &str| check(&scalar(value), expected);
    check_scalar(Scalar::Float(1.0), "1.0\n");
    check_scalar(Scalar::Float(-0.0), "-0.0\n");
    check_scalar(Scalar::Float(1e300), "1.0e+300\n");
    check_scalar(Scalar::Float(-1.5e-7), "-1.5e-7\n");
    check_scalar(Scalar::Float(f64::NEG_INFINITY), "-.inf\n");
    check_scalar(Scalar::Float(f64::NAN), ".nan\n");
    check_scalar(Scalar::from(BigInt::from(1) << 70), "1180591620717411303424\n");
    let loaded = load("2016-1-2 3:04:05.6 +1", &LoadLimits::default());
    check(&loaded.documents[0].root, "2016-1-2 3:04:05.6 +1\n");
}

/// Returns the text made of fragments that are significant in YAML, and of arbitrary characters.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-z0-9]{1,3}",
        8 => prop::sample::select(vec![
            " ", "\n", ": ", " #", "- ", "'", "\"", "\\", ":", "-", "?", "|", ">", "&", "*", "!", "%", "@", "`", "[", "]",
            "{", "}", ",", "~", "null", "yes", "=", "<<", "---", "...", "0", "1", "07", "0x", ".", "_", "e+", "\t", "\r",
            "\u{85}", "\u{2029}", "\u{feff}", "\0",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn any_scalar() -> impl Strategy<Value = Node> {
    prop_oneof![
        Just(Scalar::Null),
        any::<bool>().prop_map(Scalar::Bool),
        any::<i64>().prop_map(Scalar::Int),
        any::<i128>().prop_map(|value| Scalar::from(BigInt::from(value))),
        any::<f64>().prop_map(Scalar::Float),
        any_text().prop_map(|value| Scalar::Str(value.into())),
        any_text().prop_map(|value| Scalar::Str(value.into())),
        any_text().prop_map(|value| Scalar::Str(value.into())),
    ]
    .prop_map(scalar)
}

fn any_tree() -> impl Strategy<Value = Node> {
    any_scalar().prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(seq),
            // String keys only: `1` and `true` would be duplicates.
            prop::collection::btree_map(any_text(), inner, 0..5).prop_map(|entries| map(entries
                .into_iter()
                .map(|(key, value)| (text(&key), value))
                .collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn trees_round_trip(tree in any_tree()) {
        check_round_trip(&tree);
    }
}

/// Expected output recorded from `PyYAML`.
#[test]
fn python_style_matches_the_reference() {
    use super::{Tree, TreeLevel, to_python_yaml};

    #[derive(Clone, Copy)]
    enum Part {
        Text(&'static str),
        List(&'static [Part]),
        Map(&'static [(&'static str, Part)]),
    }

    impl Tree<'static> for Part {
        fn level(self) -> TreeLevel<'static, Self> {
            match self {
                Self::Text(text) => TreeLevel::Atom(Atom::Str(text)),
                Self::List(items) => TreeLevel::Seq(items.iter().copied().collect()),
                Self::Map(entries) => {
                    TreeLevel::Map(entries.iter().map(|(key, value)| (Atom::Str(key), *value)).collect())
                }
            }
        }
    }

    let check = |part: Part, expected: &str| assert_eq!(to_python_yaml(part), expected);
    check(Part::Text("a"), "a\n...\n");
    check(Part::Text("yes"), "'yes'\n");
    check(Part::List(&[]), "[]\n");
    check(
        Part::Map(&[("k", Part::List(&[Part::Text("x: y"), Part::Text("it's")]))]),
        "k:\n- 'x: y'\n- it's\n",
    );
    check(
        Part::List(&[Part::List(&[Part::Text("1")]), Part::Map(&[("a", Part::Text(""))])]),
        "- - '1'\n- a: ''\n",
    );
    check(Part::Map(&[("k", Part::Text("one\ntwo\n\nthree"))]), "k: 'one\n\n  two\n\n\n  three'\n");
    check(Part::Map(&[("k", Part::Text("tab\there é"))]), "k: \"tab\\there \\xE9\"\n");
    check(Part::Map(&[("", Part::List(&[Part::Text("x")]))]), "? ''\n: - x\n");
    const LONG: &str =
        "word word word word word word word word word word word word word word word word word word word";
    let split = "k: word word word word word word word word word word word word word word word word\n  word word word\n";
    check(Part::Map(&[("k", Part::Text(LONG))]), split);
}
