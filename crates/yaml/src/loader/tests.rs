//! Values, spans and diagnostics of small documents. Expected values were recorded from `PyYAML`.

use super::*;
use crate::node::NodeKind;

fn format_node(node: &Node) -> String {
    let list = |parts: Vec<String>| parts.join(", ");
    match &node.kind {
        NodeKind::Scalar(Scalar::Str(text)) => format!("{text:?}"),
        NodeKind::Scalar(Scalar::Timestamp(timestamp)) => format!("@{}", timestamp.text),
        NodeKind::Scalar(scalar) => scalar.to_string(),
        NodeKind::Seq(items) => format!("[{}]", list(items.iter().map(format_node).collect())),
        NodeKind::Map(entries) => {
            let entry = |(key, value): &(Node, Node)| format!("{}: {}", format_node(key), format_node(value));
            format!("{{{}}}", list(entries.iter().map(entry).collect()))
        }
    }
}

fn documents(loaded: &Loaded) -> String {
    loaded.documents.iter().map(|document| format_node(&document.root)).collect::<Vec<_>>().join(" --- ")
}

/// Renders a problem as `line:column: message`.
fn placed(problem: &Diagnostic) -> String {
    format!("{}: {}", problem.location.span.unwrap().start, problem.message)
}

/// Checks a text without problems.
#[track_caller]
fn check(yaml: &str, expected: &str) {
    let loaded = load(yaml, &LoadLimits::default());
    assert_eq!(loaded.problems, [], "{yaml}");
    assert_eq!(documents(&loaded), expected, "{yaml}");
}

/// Checks a text with problems, except for notes and help.
#[track_caller]
fn check_problems(yaml: &str, expected: &str, problems: &[&str]) {
    let loaded = load(yaml, &LoadLimits::default());
    let problem_lines = loaded
        .problems
        .iter()
        .map(|problem| format!("{} {}", problem.code, placed(problem)))
        .collect::<Vec<_>>();
    assert_eq!(problem_lines, problems, "{yaml}");
    assert_eq!(documents(&loaded), expected, "{yaml}");
}

#[test]
fn plain_scalars() {
    check("[yes, No, on, OFF, true, y, n]", "[true, false, true, false, true, \"y\", \"n\"]");
    check("[0644, 0o644, 08, 1_000, 0x1F, 1:30, -1]", "[420, \"0o644\", \"08\", 1000, 31, 90, -1]");
    check("[1e3, 1.5e3, 1.5e+3, .5, 1., -.inf]", "[\"1e3\", \"1.5e3\", 1500.0, 0.5, 1.0, -.inf]");
    check("[2016-01-02, 2016-01-02 03:04:05, 2016-1-2]", "[@2016-01-02, @2016-01-02 03:04:05, \"2016-1-2\"]");
    check("[~, null, '', \"1\", 'yes', x]", "[null, null, \"\", \"1\", \"yes\", \"x\"]");
    check("a:\nb: 10000000000000000000000", "{\"a\": null, \"b\": 10000000000000000000000}");
    check(
        "{a: 00:11:22:33, b: 1.2.3, c: 10.0.0.1}",
        "{\"a\": \"00:11:22:33\", \"b\": \"1.2.3\", \"c\": \"10.0.0.1\"}",
    );
}

#[test]
fn multiple_documents() {
    check("", "");
    check("# only a comment\n", "");
    check("---", "null");
    check("a\n---\n- b\n...\n---\n", "\"a\" --- [\"b\"] --- null");
    check("\u{feff}a: 1\r\nb: 2\r\n", "{\"a\": 1, \"b\": 2}");
}

#[test]
fn block_scalars() {
    check("a: |\n  x\n  y\n", "{\"a\": \"x\\ny\\n\"}");
    check("a: >\n  x\n  y\n\n  z\nb: 1", "{\"a\": \"x y\\nz\\n\", \"b\": 1}");
    // A file without a final line break does not get one.
    check("a: |\n  x\n  y", "{\"a\": \"x\\ny\"}");
    check("a: >\n  x\n  y", "{\"a\": \"x y\"}");
    check("a: |+\n  x", "{\"a\": \"x\"}");
    check("a: |\n  x\n  ", "{\"a\": \"x\\n\"}");
    check("a: |\n  x\n    ", "{\"a\": \"x\\n  \"}");
    check("a: |+\n  ", "{\"a\": \"\"}");
    check("a: |+\n\n  ", "{\"a\": \"\\n\"}");
    check("a: |-\n  x\n", "{\"a\": \"x\"}");
}

#[test]
fn quoted_text_may_be_indented_less() {
    check("a: 'x\ny\n  z'\nb: 1\n", "{\"a\": \"x y z\", \"b\": 1}");
    check("a:\n  b: \"x\n y\n\nz\"\n  c: 1", "{\"a\": {\"b\": \"x y\\nz\", \"c\": 1}}");
    check(&format!("a: 'x{}'", "\ny".repeat(3)), "{\"a\": \"x y y y\"}");
    check_problems(
        "a: 'x\ny\n---\nz'\n",
        "\"z'\"",
        &["yaml-syntax 3:1: this line is indented less than its parent"],
    );
    check("a:\n  b: \"x\n\ty\"\n", "{\"a\": {\"b\": \"x y\"}}");
    // Spans refer to the original text.
    let yaml = "a: 'x\ny'\nb: [1,\nv]\n";
    let root = &load(yaml, &LoadLimits::default()).documents[0].root;
    assert_eq!(root.get("a").map(|node| node.span.slice(yaml)), Some("'x\ny'"));
    assert_eq!(root.get("b").map(|node| node.span.slice(yaml)), Some("[1,\nv]"));
    assert_eq!(root.get("b").map(|node| node.span.start.to_string()), Some("3:4".to_owned()));
}

#[test]
fn brackets_may_be_indented_less() {
    check("a:\n  b: [\n  x,\n]\n  c: {\nd: 1\n}\n", "{\"a\": {\"b\": [\"x\"], \"c\": {\"d\": 1}}}");
}

#[test]
fn tags() {
    check("[!!str 1, !!int '1', !!float 1, !!bool 'YES', !!null x]", "[\"1\", 1, 1.0, true, null]");
    check("a: !!str\nb: !!null\n", "{\"a\": \"\", \"b\": null}");
    check("[! 1, ! 'x', !<tag:yaml.org,2002:str> 1]", "[1, \"x\", \"1\"]");
    check("!!pairs [a: 1, a: 2, [x]: 3]", "[[\"a\", 1], [\"a\", 2], [[\"x\"], 3]]");
    check("!!omap\n- a: 1\n- b: 2\n", "[[\"a\", 1], [\"b\", 2]]");
    check("!!set {a, b}", "{\"a\": null, \"b\": null}");
    check("!!seq [!!map {}]", "[{}]");
    check_problems(
        "a: !foo x\nb: !!binary aGk=\nc: !x {d: 1}\n",
        "{\"a\": \"x\", \"b\": \"aGk=\", \"c\": {\"d\": 1}}",
        &[
            "yaml-tag 1:4: unknown tag `!foo`",
            "yaml-tag 2:4: unknown tag `!!binary`",
            "yaml-tag 3:4: unknown tag `!x`",
        ],
    );
    check_problems("!!map [a]", "[\"a\"]", &["yaml-tag 1:7: tag `!!map` cannot be applied to a sequence"]);
    check_problems(
        "!!str {a: 1}",
        "{\"a\": 1}",
        &["yaml-tag 1:7: tag `!!str` cannot be applied to a mapping"],
    );
    check_problems("!!seq a", "\"a\"", &["yaml-tag 1:7: tag `!!seq` cannot be applied to a scalar"]);
    check_problems(
        "!!pairs [a, {b: 1, c: 2}]",
        "[\"a\", {\"b\": 1, \"c\": 2}]",
        &[
            "yaml-value 1:10: an item of `!!pairs` or `!!omap` must be a mapping with one entry, not text",
            "yaml-value 1:13: an item of `!!pairs` or `!!omap` must be a mapping with one entry, not a mapping",
        ],
    );
}

#[test]
fn invalid_values_are_reported() {
    check_problems(
        "a: 2016-02-30",
        "{\"a\": \"2016-02-30\"}",
        &["yaml-value 1:4: `2016-02-30` is not a date: there is no such day"],
    );
    check_problems(
        "[!!int x, !!bool y, 0x_]",
        "[\"x\", \"y\", \"0x_\"]",
        &[
            "yaml-value 1:8: `x` is not an integer",
            "yaml-value 1:18: `y` is not a boolean",
            "yaml-value 1:21: `0x_` is not an integer",
        ],
    );
    check_problems(
        "[=, <<]",
        "[\"=\", \"<<\"]",
        &["yaml-value 1:2: `=` is not a value", "yaml-value 1:5: `<<` is not a value"],
    );
}

#[test]
fn keys() {
    check(
        "{1: a, 1.5: b, true2: c, null: d, false: e}",
        "{1: \"a\", 1.5: \"b\", \"true2\": \"c\", null: \"d\", false: \"e\"}",
    );
    check("? a b\n: c\n? d\n", "{\"a b\": \"c\", \"d\": null}");
    check("=: 1\n'<<': 2\n2016-01-02: 3", "{\"=\": 1, \"<<\": 2, @2016-01-02: 3}");
    check_problems(
        "{a: 1, [b]: 2, {c: d}: 3}",
        "{\"a\": 1}",
        &["yaml-key 1:8: a sequence cannot be a key", "yaml-key 1:16: a mapping cannot be a key"],
    );
}

#[test]
fn duplicate_keys() {
    let yaml = "a: 1\nb: 2\na: 3\n";
    check_problems(
        yaml,
        "{\"a\": 3, \"b\": 2}",
        &["yaml-duplicate-key 3:1: key `a` is given twice; the last one wins"],
    );
    let loaded = load(yaml, &LoadLimits::default());
    assert!(!loaded.has_errors());
    assert_eq!(loaded.problems[0].notes[0].span.map(|span| span.start.to_string()), Some("1:1".to_owned()));
    // The span of a key is that of the effective value.
    assert_eq!(loaded.documents[0].root.as_map().map(|map| map[0].0.span.start.line), Some(3));
    check_problems(
        "{1: a, true: b, 1.0: c}",
        "{1: \"c\"}",
        &[
            "yaml-duplicate-key 1:8: key `true` is given twice; the last one wins",
            "yaml-duplicate-key 1:17: key `1.0` is given twice; the last one wins",
        ],
    );
}

#[test]
fn merges() {
    let base = "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\n";
    let check_merge = |entry: &str, expected: &str| {
        let loaded = load(&format!("{base}z:\n{entry}"), &LoadLimits::default());
        assert_eq!(loaded.problems, [], "{entry}");
        assert_eq!(loaded.documents[0].root.get("z").map(format_node).as_deref(), Some(expected), "{entry}");
    };
    check_merge("  <<: *x\n  b: 9\n", "{\"a\": 1, \"b\": 9}");
    check_merge("  b: 9\n  d: 5\n  <<: *x\n", "{\"a\": 1, \"b\": 9, \"d\": 5}");
    check_merge("  <<: [*x, *y]\n", "{\"b\": 2, \"c\": 4, \"a\": 1}");
    check_merge("  <<: *x\n  <<: *y\n", "{\"a\": 1, \"b\": 3, \"c\": 4}");
    check_merge("  <<: {e: 6}\n", "{\"e\": 6}");
    check_merge("  <<: []\n", "{}");
    let chain = (1..200).map(|n| format!("m{n}: &m{n} {{<<: *m{}, k{n}: 1}}", n - 1));
    let chain = std::iter::once("m0: &m0 {}".to_owned()).chain(chain).collect::<Vec<_>>().join("\n");
    assert_eq!(load(&chain, &LoadLimits::default()).problems, []);
    check_problems(
        "{<<: 1, a: 2}",
        "{\"a\": 2}",
        &["yaml-merge 1:6: `<<` merges a mapping or a list of mappings, not an integer"],
    );
    check_problems(
        "<<: [{b: 1}, x]",
        "{\"b\": 1}",
        &["yaml-merge 1:14: `<<` merges a mapping or a list of mappings, not text"],
    );
}

#[test]
fn aliases() {
    check("a: &x [1, &y 2]\nb: *x\nc: *y\n*y : d", "{\"a\": [1, 2], \"b\": [1, 2], \"c\": 2, 2: \"d\"}");
    check_problems(
        "a: *x\n<<: *y\nc: 1",
        "{\"a\": null, \"c\": 1}",
        &[
            "yaml-alias 1:4: no anchor `&x` is defined before this alias",
            "yaml-alias 2:5: no anchor `&y` is defined before this alias",
        ],
    );
    check_problems(
        "&a [b, *a]",
        "[\"b\", null]",
        &["yaml-alias 1:8: `*a` is a recursive alias: it refers to a node that contains it"],
    );
    check_problems("[&a 1, &a 2, *a]", "[1, 2, 2]", &["yaml-alias 1:8: anchor `&a` is defined twice"]);
    check("&a 1\n---\n&a 2", "1 --- 2");
    check_problems(
        "&a 1\n---\n*a",
        "1 --- null",
        &["yaml-alias 3:1: no anchor `&a` is defined before this alias"],
    );
}

#[test]
fn syntax_error_discards_one_document() {
    check_problems(
        "a: [1\n---\nb: 1\n---\nc: 'x\n",
        "{\"b\": 1}",
        &["yaml-syntax 1:4: `[` is never closed", "yaml-syntax 5:4: a quote is opened but never closed"],
    );
    check_problems("a: b: c", "", &["yaml-syntax 1:5: a `key: value` pair cannot start here"]);
    check_problems("a: @x", "", &["yaml-syntax 1:4: text cannot start with `@`"]);
    check_problems("a: 1\n b: 2\n", "", &["yaml-syntax 2:3: a `key: value` pair cannot start here"]);
    check_problems("a:\n  - 1\n b: 2\n", "", &["yaml-syntax 3:2: expected a key of the mapping"]);
    check_problems("a: \"\\q\"", "", &["yaml-syntax 1:4: unknown escape in double quotes"]);
}

#[test]
fn missing_quote_is_reported_where_it_was_opened() {
    let loaded = load("a: 1\n---\nb: 'x\nc: y\nd: 'z'\n", &LoadLimits::default());
    let problem = &loaded.problems[0];
    assert_eq!(placed(problem), "5:5: unexpected text after the closing quote");
    assert_eq!(problem.notes[0].span.map(|span| (span.start.line, span.start.offset)), Some((4, 15)));
}

#[test]
fn control_characters() {
    check_problems(
        "a: 1 # \u{7}\nb: \u{1}x",
        "",
        &[
            "yaml-control-character 1:8: the character `\\u{7}` is not allowed",
            "yaml-control-character 2:4: the character `\\u{1}` is not allowed",
        ],
    );
    check_problems("a # \u{7f}", "", &["yaml-control-character 1:5: the character `\\u{7f}` is not allowed"]);
}

#[test]
fn spans() {
    let yaml = "ü: é x\nlist:\n  - 'q'\n  - {k: v}\n\nafter: 1\n";
    let root = &load(yaml, &LoadLimits::default()).documents[0].root;
    let list = root.get("list").expect("a list");
    let items = list.as_seq().expect("a sequence");
    assert_eq!(root.get("ü").map(|node| node.span.slice(yaml)), Some("é x"));
    assert_eq!(items[0].span.slice(yaml), "'q'");
    assert_eq!(items[1].span.slice(yaml), "{k: v}");
    // A block ends with its last item, not at the next key.
    assert_eq!(list.span.slice(yaml), "- 'q'\n  - {k: v}");
    assert_eq!(root.get("ü").map(|node| node.span.start), Some(Position { offset: 4, line: 1, column: 4 }));
    assert_eq!(root.span.slice(yaml), yaml.trim_end());
}

#[test]
fn limits() {
    let code = |yaml: &str, limits: LoadLimits| {
        let loaded = load(yaml, &limits);
        loaded.problems.into_iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    let limits = LoadLimits::default();
    assert_eq!(code("abc", LoadLimits { size_bytes_max: 2, ..limits }), [codes::LIMIT]);
    assert_eq!(code("[a, b]", LoadLimits { nodes_max: 2, ..limits }), [codes::LIMIT]);
    assert_eq!(code("[a, b]", LoadLimits { nodes_max: 3, ..limits }), [""; 0]);
    assert_eq!(code("[[a]]", LoadLimits { depth_max: 1, ..limits }), [codes::LIMIT]);
    assert_eq!(code("[[a]]", LoadLimits { depth_max: 2, ..limits }), [""; 0]);
    assert_eq!(code("[&a [x], [*a]]", LoadLimits { depth_max: 2, ..limits }), [codes::LIMIT]);
    let loaded = load("a: !x 1\nb: !x 2\nc: !x 3\n", &LoadLimits { problems_max: 2, ..limits });
    assert_eq!((loaded.problems.len(), loaded.n_problems_dropped), (2, 1));
}

#[test]
fn alias_bombs_are_rejected() {
    let level = |level: usize| {
        let item = if level == 0 { "x".to_owned() } else { format!("*a{}", level - 1) };
        format!("a{level}: &a{level} [{}]", vec![item; 9].join(", "))
    };
    let bomb = (0..9).map(level).collect::<Vec<_>>().join("\n");
    let loaded = load(&bomb, &LoadLimits::default());
    assert!(loaded.documents.is_empty());
    assert_eq!(loaded.problems.iter().map(|problem| &*problem.code).collect::<Vec<_>>(), [codes::LIMIT]);
}
