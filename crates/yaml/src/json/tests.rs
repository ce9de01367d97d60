use super::*;
use crate::node::{Node, NodeKind};

/// Formats the tree in a compact form, followed by the problems.
fn result(text: &str) -> String {
    result_within(text, &LoadLimits::default())
}

fn result_within(text: &str, limits: &LoadLimits) -> String {
    let loaded = load(text, limits);
    let mut lines: Vec<String> = loaded.documents.iter().map(|document| tree(&document.root)).collect();
    lines.extend(loaded.problems.iter().map(|problem| {
        let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}{help}", placed(problem))
    }));
    lines.join("\n")
}

/// Renders a problem as `line:column: message`.
fn placed(problem: &Diagnostic) -> String {
    format!("{}: {}", problem.location.span.unwrap().start, problem.message)
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
    assert_eq!(result(text), expected, "{text}");
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
        "[Null, Int(1)]\n1:2: `1e999` is out of range for a float (quote the value if it is text)",
    );
    check(
        &"9".repeat(4301),
        "Null\n1:1: an integer may have at most 4300 characters (quote the value if it is text)",
    );
    for (text, help) in [
        ("01", "remove the leading zeros, or quote the value if it is text"),
        ("-012", "remove the leading zeros, or quote the value if it is text"),
        ("1.", "write digits on both sides of the decimal point"),
        ("-.5", "write digits on both sides of the decimal point"),
        ("-", "quote the value if it is text"),
        ("1e", "quote the value if it is text"),
        ("1.2.3", "quote the value if it is text"),
        ("0x1F", "quote the value if it is text"),
        ("1_000", "quote the value if it is text"),
        ("-Infinity", "JSON does not support infinity: write `null` or a string"),
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
1:3: `\\ud83d` is an unpaired surrogate (write the complete pair, or the character itself)
1:13: `\\ude00` is an unpaired surrogate (write the complete pair, or the character itself)
1:24: `\\ud83d` is an unpaired surrogate (write the complete pair, or the character itself)
1:46: `\\ud83d` is an unpaired surrogate (write the complete pair, or the character itself)",
    );
    check(
        r#"["\x41", "\u12", "\u+123"]"#,
        "[Str(\"x41\"), Str(\"12\"), Str(\"+123\")]
1:3: invalid escape sequence (write `\\\\` for a backslash)
1:11: `\\u` needs four hexadecimal digits (write it as in `\\u00e4`, or `\\\\` for a backslash)
1:19: `\\u` needs four hexadecimal digits (write it as in `\\u00e4`, or `\\\\` for a backslash)",
    );
    check("\"a\tb\"", "1:3: unescaped control character `\\u0009` (write `\\t`)");
    check("[\"a\nb\"]", "1:4: unterminated string (add the closing `\"`, or write the line break as `\\n`)");
    check(
        "\"a\\",
        "1:3: invalid escape sequence (write `\\\\` for a backslash)\n1:4: unterminated string (add the closing `\"`)",
    );
}

#[test]
fn constructs_of_other_languages_get_hints() {
    check("", "1:1: empty input (write one JSON value)");
    check(" \n ", "2:2: empty input (write one JSON value)");
    check("[1, 2,]", "1:7: expected a value, found `]` (remove the comma before it)");
    check("{\"a\": 1,\n}", "2:1: expected a key in double quotes, found `}` (remove the comma before it)");
    check(
        "[1] // x",
        "1:5: expected end of input, found `/` (remove the comment: JSON does not support comments)",
    );
    check(
        "{# x\n}",
        "1:2: expected a key in double quotes, found `#` (remove the comment: JSON does not support comments)",
    );
    check(
        "['a']",
        "1:2: expected a value, found `'` (use double quotes: JSON does not support single quotes)",
    );
    check("{a: 1}", "1:2: expected a key in double quotes, found `a` (write `\"a\"`)");
    check("{1: 1}", "1:2: expected a key in double quotes, found `1` (write `\"1\"`)");
    check("[None]", "1:2: expected a value, found `None` (write `null`)");
    check("True", "1:1: expected a value, found `True` (write `true`)");
    check(
        "NaN",
        "1:1: expected a value, found `NaN` (JSON does not support this number: write `null` or a string)",
    );
    check("+1", "1:1: expected a value, found `+1` (remove the `+`)");
    check(".5", "1:1: expected a value, found `.5` (write digits on both sides of the decimal point)");
    check("- id: a", "1:1: `-` is not a number (quote the value if it is text)");
    check("id: a", "1:1: expected a value, found `id` (put strings in double quotes)");
    check("nullx", "1:1: expected a value, found `nullx` (put strings in double quotes)");
    check("{\"a\" 1}", "1:6: expected `:` after the key, found `1`");
    check("{\"a\": }", "1:7: expected a value, found `}`");
    check("{\"a\": 1 \"b\": 2}", "1:9: expected `,` or `}`, found `\"`");
    check("[1 2]", "1:4: expected `,` or `]`, found `2`");
    check("[1}", "1:3: expected `,` or `]`, found `}`");
    check("{} {}", "1:4: expected end of input, found `{`");
    check("[,]", "1:2: expected a value, found `,`");
    check("\u{a0}1", "1:1: expected a value, found `\u{a0}`");
    check("[\"ä\", é]", "1:7: expected a value, found `é` (put strings in double quotes)");
}

#[test]
fn unclosed_bracket_is_reported() {
    for (text, expected) in [
        ("[1,\n {\"a\": [2", "2:10: unexpected end of input: expected `,` or `]`"),
        ("{\"a\"", "1:5: unexpected end of input: expected `:` after the key"),
        ("[\"a\",", "1:6: unexpected end of input: expected a value"),
        ("{", "1:2: unexpected end of input: expected a key in double quotes"),
    ] {
        let loaded = load(text, &LoadLimits::default());
        assert_eq!(placed(&loaded.problems[0]), expected);
        let note = &loaded.problems[0].notes[0];
        let (opened, label) = (note.span.unwrap(), &*note.message);
        assert_eq!(
            (opened.slice(text), label),
            (&text[opened.start.offset as usize..][..1], "unclosed bracket")
        );
    }
}

#[test]
fn duplicate_keys_are_errors_with_both_spans() {
    let text = "{\"a\": 1, \"b\": 2,\n \"a\": 3, \"\\u0061\": 4}";
    check(
        text,
        "{Str(\"a\"): Int(4), Str(\"b\"): Int(2)}
2:2: key `a` is given twice (remove one of them)
2:10: key `a` is given twice (remove one of them)",
    );
    let loaded = load(text, &LoadLimits::default());
    assert!(loaded.has_errors());
    assert_eq!(loaded.problems[0].notes[0].span.unwrap().start.column, 2);
    let many: Vec<String> = (0..40).map(|at| format!("\"k{}\": {at}", at % 39)).collect();
    let loaded = load(&format!("{{{}}}", many.join(",")), &LoadLimits::default());
    assert_eq!(loaded.problems.len(), 1);
    assert_eq!(loaded.documents[0].root.as_map().unwrap().len(), 39);
}

#[test]
fn nodes_have_spans() {
    let text = "{\r\n  \"ä\": [1,\r   true],\n  \"b\": {\"c\": \"€x\"}\n}\n";
    let root = load(text, &LoadLimits::default()).documents[0].root.clone();
    let location = |node: &Node| {
        (node.span.start.to_string(), node.span.end.to_string(), node.span.slice(text).to_owned())
    };
    let at = |start: &str, end: &str, slice: &str| (start.to_owned(), end.to_owned(), slice.to_owned());
    let entries = root.as_map().unwrap();
    assert_eq!(root.span.end.to_string(), "5:2");
    assert_eq!(location(&entries[0].0), at("2:3", "2:6", "\"ä\""));
    assert_eq!(location(&entries[0].1), at("2:8", "3:9", "[1,\r   true]"));
    assert_eq!(location(&entries[0].1.as_seq().unwrap()[1]), at("3:4", "3:8", "true"));
    assert_eq!(location(entries[1].1.get("c").unwrap()), at("4:14", "4:18", "\"€x\""));
}

#[test]
fn limits() {
    let within = |text: &str, limits: LoadLimits| result_within(text, &limits);
    let deep = "[".repeat(10_000);
    assert_eq!(result(&deep), "1:101: nesting exceeds 100 levels");
    assert_eq!(result(&"{\"a\":".repeat(10_000)), "1:501: nesting exceeds 100 levels");
    let limits = LoadLimits { depth_max: 2, ..LoadLimits::default() };
    assert_eq!(within("[[1]]", limits), "[[Int(1)]]");
    assert_eq!(within("[[[1]]]", limits), "1:3: nesting exceeds 2 levels");
    let limits = LoadLimits { nodes_max: 3, ..LoadLimits::default() };
    assert_eq!(within("[1, 2]", limits), "[Int(1), Int(2)]");
    assert_eq!(within("[1, 2, 3]", limits), "1:8: input exceeds 3 nodes (split the input)");
    assert_eq!(within("{\"a\": [1]}", limits), "1:8: input exceeds 3 nodes (split the input)");
    let limits = LoadLimits { size_bytes_max: 4, ..LoadLimits::default() };
    assert_eq!(within("[123]", limits), "1:1: input is too large: 5 bytes, the limit is 4 (split the input)");
    let limits = LoadLimits { problems_max: 1, ..LoadLimits::default() };
    let loaded = load(r#"["\x", "\y", "\z"]"#, &limits);
    assert_eq!((loaded.problems.len(), loaded.n_problems_dropped), (1, 2));
}
