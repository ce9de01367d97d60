use super::*;
use crate::node::{Node, NodeKind};

/// The tree in a compact form of our own, problems after it.
fn shown(text: &str) -> String {
    shown_within(text, &Limits::default())
}

fn shown_within(text: &str, limits: &Limits) -> String {
    let loaded = load(text, limits);
    let mut lines: Vec<String> = loaded.documents.iter().map(|document| tree(&document.root)).collect();
    lines.extend(loaded.problems.iter().map(|problem| {
        let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{problem}{help}")
    }));
    lines.join("\n")
}

fn tree(node: &Node) -> String {
    match &node.kind {
        NodeKind::Scalar(scalar) => format!("{scalar:?}"),
        NodeKind::Seq(items) => format!("[{}]", items.iter().map(tree).collect::<Vec<_>>().join(", ")),
        NodeKind::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}: {}", tree(key), tree(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

fn check(text: &str, expected: &str) {
    assert_eq!(shown(text), expected, "{text}");
}

#[test]
fn values() {
    check(" null ", "Null");
    check("true", "Bool(true)");
    check("\u{feff}false\r\n", "Bool(false)");
    check("[]", "[]");
    check("{ }", "{}");
    check(
        r#"{"a": [1, -2.5, "x", {"b": null}], "c": {}}"#,
        "{Str(\"a\"): [Int(1), Float(-2.5), Str(\"x\"), {Str(\"b\"): Null}], Str(\"c\"): {}}",
    );
}

#[test]
fn numbers() {
    check("[0, -0, 10, 9223372036854775807]", "[Int(0), Int(0), Int(10), Int(9223372036854775807)]");
    check(
        "[-9223372036854775808, 9223372036854775808]",
        "[Int(-9223372036854775808), BigInt(9223372036854775808)]",
    );
    check(
        "[1.0, 1e3, 1E-2, 1.5e+3, -0.0]",
        "[Float(1.0), Float(1000.0), Float(0.01), Float(1500.0), Float(-0.0)]",
    );
    check(
        "[1e999, 1]",
        "[Null, Int(1)]\n1:2: `1e999` is too large for a number with a fraction (put it in quotes if text is meant)",
    );
    check(
        &"9".repeat(4301),
        "Null\n1:1: an integer may have at most 4300 characters (put it in quotes if text is meant)",
    );
    for (text, help) in [
        ("01", "a number has no zeros in front; put it in quotes if text is meant"),
        ("-012", "a number has no zeros in front; put it in quotes if text is meant"),
        ("1.", "there are digits on both sides of a point"),
        ("-.5", "there are digits on both sides of a point"),
        ("-", "put it in quotes if text is meant"),
        ("1e", "put it in quotes if text is meant"),
        ("1.2.3", "put it in quotes if text is meant"),
        ("0x1F", "put it in quotes if text is meant"),
        ("1_000", "put it in quotes if text is meant"),
        ("-Infinity", "JSON has no infinities: write `null`, or text in quotes"),
    ] {
        check(text, &format!("1:1: `{text}` is not a number ({help})"));
    }
}

#[test]
fn text() {
    check(r#""""#, "Str(\"\")");
    check(r#""a\"\\\/\b\f\n\r\t\u00e4ä\ud83d\ude00""#, "Str(\"a\\\"\\\\/\\u{8}\\u{c}\\n\\r\\tää😀\")");
    check("\"\u{7f}\u{2028}\"", "Str(\"\\u{7f}\\u{2028}\")");
    check(
        r#"["\ud83d", "\ude00x", "\ud83d\ud83d\ude00", "\ud83dA"]"#,
        "[Str(\"\"), Str(\"x\"), Str(\"😀\"), Str(\"A\")]
1:3: `\\ud83d` is half of a surrogate pair (write both halves, or the character itself)
1:13: `\\ude00` is half of a surrogate pair (write both halves, or the character itself)
1:24: `\\ud83d` is half of a surrogate pair (write both halves, or the character itself)
1:46: `\\ud83d` is half of a surrogate pair (write both halves, or the character itself)",
    );
    check(
        r#"["\x41", "\u12", "\u+123"]"#,
        "[Str(\"x41\"), Str(\"12\"), Str(\"+123\")]
1:3: this backslash begins no escape (write `\\\\` for a backslash)
1:11: `\\u` needs four hexadecimal digits (write it as in `\\u00e4`, or `\\\\` for a backslash)
1:19: `\\u` needs four hexadecimal digits (write it as in `\\u00e4`, or `\\\\` for a backslash)",
    );
    check("\"a\tb\"", "1:3: the control character `\\u0009` cannot stand in text as it is (write `\\t`)");
    check(
        "[\"a\nb\"]",
        "1:4: the text in quotes does not end on its line (write the closing `\"`, and line breaks in text as `\\n`)",
    );
    check(
        "\"a\\",
        "1:3: this backslash begins no escape (write `\\\\` for a backslash)\n1:4: the text in quotes does not end (write the closing `\"`)",
    );
}

#[test]
fn habits_from_elsewhere() {
    check("", "1:1: the text is empty (write one JSON value)");
    check(" \n ", "2:2: the text is empty (write one JSON value)");
    check("[1, 2,]", "1:7: a value should stand here, this is `]` (remove the comma before it)");
    check(
        "{\"a\": 1,\n}",
        "2:1: a key in double quotes should stand here, this is `}` (remove the comma before it)",
    );
    check("[1] // x", "1:5: nothing may follow the value, this is `/` (JSON has no comments: remove it)");
    check(
        "{# x\n}",
        "1:2: a key in double quotes should stand here, this is `#` (JSON has no comments: remove it)",
    );
    check("['a']", "1:2: a value should stand here, this is `'` (JSON knows only double quotes)");
    check("{a: 1}", "1:2: a key in double quotes should stand here, this is `a` (write `\"a\"`)");
    check("{1: 1}", "1:2: a key in double quotes should stand here, this is `1` (write `\"1\"`)");
    check("[None]", "1:2: a value should stand here, this is `None` (write `null`)");
    check("True", "1:1: a value should stand here, this is `True` (write `true`)");
    check(
        "NaN",
        "1:1: a value should stand here, this is `NaN` (JSON has no such number: write `null`, or text in quotes)",
    );
    check("+1", "1:1: a value should stand here, this is `+1` (a number has no `+` in front)");
    check(".5", "1:1: a value should stand here, this is `.5` (there are digits on both sides of a point)");
    check("- id: a", "1:1: `-` is not a number (put it in quotes if text is meant)");
    check("id: a", "1:1: a value should stand here, this is `id` (put text in double quotes)");
    check("nullx", "1:1: a value should stand here, this is `nullx` (put text in double quotes)");
    check("{\"a\" 1}", "1:6: a `:` should stand between key and value, this is `1`");
    check("{\"a\": }", "1:7: a value should stand here, this is `}`");
    check("{\"a\": 1 \"b\": 2}", "1:9: a `,` or `}` should stand here, this is `\"`");
    check("[1 2]", "1:4: a `,` or `]` should stand here, this is `2`");
    check("[1}", "1:3: a `,` or `]` should stand here, this is `}`");
    check("{} {}", "1:4: nothing may follow the value, this is `{`");
    check("[,]", "1:2: a value should stand here, this is `,`");
    check("\u{a0}1", "1:1: a value should stand here, this is `\u{a0}`");
    check("[\"ä\", é]", "1:7: a value should stand here, this is `é` (put text in double quotes)");
}

#[test]
fn an_open_bracket_is_shown() {
    for (text, expected) in [
        ("[1,\n {\"a\": [2", "2:10: the text ends too early: a `,` or `]` should stand here"),
        ("{\"a\"", "1:5: the text ends too early: a `:` should stand between key and value"),
        ("[\"a\",", "1:6: the text ends too early: a value should stand here"),
        ("{", "1:2: the text ends too early: a key in double quotes should stand here"),
    ] {
        let loaded = load(text, &Limits::default());
        assert_eq!(loaded.problems[0].to_string(), expected);
        let (opened, label) = loaded.problems[0].related.unwrap();
        assert_eq!(
            (opened.slice(text), label),
            (&text[opened.start.offset as usize..][..1], "this bracket is still open")
        );
    }
}

#[test]
fn duplicate_keys_are_errors_with_both_places() {
    let text = "{\"a\": 1, \"b\": 2,\n \"a\": 3, \"\\u0061\": 4}";
    check(
        text,
        "{Str(\"a\"): Int(4), Str(\"b\"): Int(2)}
2:2: key `a` is given twice (remove one of them)
2:10: key `a` is given twice (remove one of them)",
    );
    let loaded = load(text, &Limits::default());
    assert!(loaded.has_errors());
    assert_eq!(loaded.problems[0].related.unwrap().0.start.column, 2);
    let many: Vec<String> = (0..40).map(|at| format!("\"k{}\": {at}", at % 39)).collect();
    let loaded = load(&format!("{{{}}}", many.join(",")), &Limits::default());
    assert_eq!(loaded.problems.len(), 1);
    assert_eq!(loaded.documents[0].root.as_map().unwrap().len(), 39);
}

#[test]
fn every_node_knows_its_place() {
    let text = "{\r\n  \"ä\": [1,\r   true],\n  \"b\": {\"c\": \"€x\"}\n}\n";
    let root = load(text, &Limits::default()).documents[0].root.clone();
    let place = |node: &Node| {
        (node.span.start.to_string(), node.span.end.to_string(), node.span.slice(text).to_owned())
    };
    let at = |start: &str, end: &str, slice: &str| (start.to_owned(), end.to_owned(), slice.to_owned());
    let entries = root.as_map().unwrap();
    assert_eq!(root.span.end.to_string(), "5:2");
    assert_eq!(place(&entries[0].0), at("2:3", "2:6", "\"ä\""));
    assert_eq!(place(&entries[0].1), at("2:8", "3:9", "[1,\r   true]"));
    assert_eq!(place(&entries[0].1.as_seq().unwrap()[1]), at("3:4", "3:8", "true"));
    assert_eq!(place(entries[1].1.get("c").unwrap()), at("4:14", "4:18", "\"€x\""));
}

#[test]
fn limits() {
    let within = |text: &str, limits: Limits| shown_within(text, &limits);
    let deep = "[".repeat(10_000);
    assert_eq!(shown(&deep), "1:101: the nesting is deeper than 100 levels");
    assert_eq!(shown(&"{\"a\":".repeat(10_000)), "1:501: the nesting is deeper than 100 levels");
    let limits = Limits { depth_max: 2, ..Limits::default() };
    assert_eq!(within("[[1]]", limits), "[[Int(1)]]");
    assert_eq!(within("[[[1]]]", limits), "1:3: the nesting is deeper than 2 levels");
    let limits = Limits { nodes_max: 3, ..Limits::default() };
    assert_eq!(within("[1, 2]", limits), "[Int(1), Int(2)]");
    assert_eq!(within("[1, 2, 3]", limits), "1:8: the text has more than 3 nodes (split the text)");
    assert_eq!(within("{\"a\": [1]}", limits), "1:8: the text has more than 3 nodes (split the text)");
    let limits = Limits { size_bytes_max: 4, ..Limits::default() };
    assert_eq!(within("[123]", limits), "1:1: the text has 5 bytes, 4 are allowed (split the text)");
    let limits = Limits { problems_max: 1, ..Limits::default() };
    let loaded = load(r#"["\x", "\y", "\z"]"#, &limits);
    assert_eq!((loaded.problems.len(), loaded.n_problems_dropped), (1, 2));
}
