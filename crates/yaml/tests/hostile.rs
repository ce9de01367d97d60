//! Arbitrary text does not make the loader panic, hang or return spans outside the text.

use proptest::prelude::*;
use stoker_yaml::{LoadLimits, Node, NodeKind, Span, load};

const PLAUSIBLE: &str = r#"# Tasks of a role
- id: &id upload-configuration
  type: upload_file
  version: 2.1.0
  role: ["/(primary-)?controller/", '*']
  condition:
    yaql_exp: >
      changed($.storage) and
      not $.storage.images_ceph
  parameters: &defaults
    path: /etc/service/settings.yaml
    mode: 0644
    timeout: 1:30
    data: |
      key = "value"   # é

      [section]
    retries: !!int "3"
  cross-depends:
    - {name: other, role: self, policy: all}
  since: 2016-01-02 03:04:05.6 +01:00
- id: second
  parameters:
    <<: *defaults
    path: "C:\\x\t\u00e9"
    text: 'several
lines'
  ? [not, a, key]
  : *id
--- !!pairs
- a: ~
- b: .inf
...
"#;

fn check_span(span: Span, text: &str) {
    let (start, end) = (span.start.offset as usize, span.end.offset as usize);
    assert!(start <= end, "{span:?} in {text:?}");
    assert!(text.get(start..end).is_some(), "{span:?} in {text:?}");
}

/// Checks that line and column agree with the offset.
fn check_position(span: Span, text: &str) {
    let before = text[..span.start.offset as usize].replace("\r\n", "\n").replace('\r', "\n");
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let expected = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    assert_eq!((span.start.line as usize, span.start.column as usize), expected, "{span:?} in {text:?}");
}

fn check_node(node: &Node, text: &str) {
    check_span(node.span, text);
    // Byte order marks and CR CR LF are excluded: checking them would need a second implementation.
    if !text.contains(['\u{feff}', '\r']) {
        check_position(node.span, text);
    }
    match &node.kind {
        NodeKind::Scalar(_) => {}
        NodeKind::Seq(items) => items.iter().for_each(|item| check_node(item, text)),
        NodeKind::Map(entries) => entries.iter().for_each(|(key, value)| {
            check_node(key, text);
            check_node(value, text);
        }),
    }
}

fn check(text: &str) {
    let limits = LoadLimits { nodes_max: 10_000, ..LoadLimits::default() };
    let loaded = load(text, &limits);
    for document in &loaded.documents {
        check_node(&document.root, text);
    }
    for problem in &loaded.problems {
        check_span(problem.location.span.expect("a span"), text);
        if let Some(span) = problem.notes.first().and_then(|note| note.span) {
            check_span(span, text);
        }
    }
}

#[test]
fn plausible_text_has_one_problem() {
    let loaded = load(PLAUSIBLE, &LoadLimits::default());
    let problems = loaded.problems.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        problems,
        [
            "a sequence cannot be a key (line 28, column 5; use text or a number as the key, or put quotes around it)"
        ]
    );
    assert_eq!(loaded.documents.len(), 2);
    check(PLAUSIBLE);
}

#[test]
fn truncated_texts() {
    for (end, _) in PLAUSIBLE.char_indices() {
        check(&PLAUSIBLE[..end]);
        check(&PLAUSIBLE[..end].replace('\n', "\r\n"));
    }
}

#[test]
fn texts_with_one_line_removed() {
    let lines = PLAUSIBLE.split_inclusive('\n').collect::<Vec<_>>();
    for skipped in 0..lines.len() {
        let remaining = lines.iter().enumerate().filter(|(line_idx, _)| *line_idx != skipped);
        check(&remaining.map(|(_, line)| *line).collect::<String>());
    }
}

#[test]
fn deep_and_wide_texts() {
    for opening in ["[", "{a: ", "- ", "? ", "!!pairs [", "&a [", "'", "a: |\n  "] {
        check(&opening.repeat(20_000));
    }
    check(&(0..500).map(|depth| "  ".repeat(depth) + "a:").collect::<Vec<_>>().join("\n"));
    check(&format!("a: 'x{}'", "\ny".repeat(5_000)));
    check(&"a: [\n---\n".repeat(5_000));
    check(&"&a a: *a\n".repeat(5_000));
    check(&"9:".repeat(50_000));
    check(&"0x".repeat(50_000));
}

/// Generates random sequences of fragments that are significant in YAML.
fn pieces() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "- ",
        "? ",
        ": ",
        ":",
        "\"",
        "'",
        "|",
        ">",
        "|\n",
        ">+\n",
        "|2-\n",
        "#",
        " #",
        "&a ",
        "*a ",
        "!!str ",
        "!!int ",
        "!!pairs ",
        "!!set ",
        "!x ",
        "! ",
        "<<: ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        "\n",
        "\n",
        "  ",
        " ",
        "\t",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "%TAG ! x\n",
        "~",
        "yes",
        "0644",
        "1:30",
        "1:30.5",
        "2016-01-02",
        "2016-99-99",
        "1.5",
        ".inf",
        "é",
        "\r\n",
        "\r",
        "\\",
        "\\u",
        "=",
        "a",
        "b: c",
        "@",
        "\u{feff}",
        "\u{85}",
        "\u{2028}",
        "\0",
        "\u{7f}",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..30).prop_map(|pieces| pieces.concat())
}

/// Generates [`PLAUSIBLE`] with random edits.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (0..PLAUSIBLE.chars().count(), 0_usize..4, pieces());
    prop::collection::vec(edit, 1..4).prop_map(|edits| {
        let mut characters = PLAUSIBLE.chars().collect::<Vec<_>>();
        for (at, n_removed, inserted) in edits {
            let at = at.min(characters.len());
            let end = (at + n_removed).min(characters.len());
            characters.splice(at..end, inserted.chars().take(6));
        }
        characters.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_texts(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn random_pieces(text in pieces()) {
        check(&text);
    }

    #[test]
    fn mutated_texts(text in mutated()) {
        check(&text);
    }
}
