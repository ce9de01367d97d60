//! The output is well formed for arbitrary names.

use std::collections::HashSet;

use proptest::prelude::*;
use stoker_pictures::{Appearance, Diagram, Dot, Mermaid, Svg, Vertex};

const LOOKS: &[Appearance] = &[
    Appearance::Task,
    Appearance::Group,
    Appearance::Stage,
    Appearance::Unknown,
    Appearance::WillSkip,
    Appearance::Running,
    Appearance::Failed,
];

fn name() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        "\"", "\\", "<b>", "&amp;", "]]>", "#quot;", "end", "\n", "\u{0}", "\u{b}", "\u{ffff}", "->", "{",
        "}", ";", "\u{202e}", "`", "'", "-->", "graph",
    ]);
    let piece = prop_oneof![nasty.prop_map(str::to_owned), any::<String>(), "[a-z]{1,6}"];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn drawing() -> impl Strategy<Value = Diagram> {
    let vertex = (name(), name(), prop::sample::select(LOOKS), prop::option::of(0..20_u8));
    let vertices = prop::collection::vec(vertex, 0..30);
    let edges = prop::collection::vec((0..30_u32, 0..30_u32), 0..80);
    (name(), vertices, edges).prop_map(|(title, vertices, edges)| {
        let n_vertices = vertices.len() as u32;
        let vertices = vertices.into_iter().enumerate().map(|(idx, (id, label, looks, cluster))| Vertex {
            id: format!("{id}{idx}"),
            label,
            appearance: looks,
            cluster: cluster.map(|cluster| format!("<{cluster}>")),
        });
        let edges: HashSet<(u32, u32)> =
            edges.into_iter().filter(|(from, to)| *from < n_vertices && *to < n_vertices).collect();
        let mut edges: Vec<_> = edges.into_iter().collect();
        edges.sort_unstable();
        Diagram { title, vertices: vertices.collect(), edges, n_omitted: 0 }
    })
}

/// Parses XML minimally: balanced elements, quoted attributes, known entities. Returns the texts of all
/// titles.
fn read_xml(text: &str) -> Result<Vec<String>, String> {
    let (mut open, mut titles, mut rest): (Vec<&str>, Vec<String>, &str) = (Vec::new(), Vec::new(), text);
    let mut has_ended = false;
    loop {
        let start = rest.find('<').unwrap_or(rest.len());
        let content = unescape(&rest[..start])?;
        if open.last() == Some(&"title") {
            titles.push(content);
        } else if open.is_empty() && !content.trim().is_empty() {
            return Err(format!("text outside: {content:?}"));
        }
        if start == rest.len() {
            return if open.is_empty() { Ok(titles) } else { Err(format!("unclosed elements: {open:?}")) };
        }
        let end = rest[start..].find('>').ok_or("a tag does not end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("unmatched </{name}>"));
            }
            has_ended = open.is_empty();
            continue;
        }
        if has_ended {
            return Err("two roots".to_owned());
        }
        let is_closed = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        read_attributes(attributes)?;
        if !is_closed {
            open.push(name);
        } else if open.is_empty() {
            has_ended = true;
        }
    }
}

/// Attributes with numbers. Others may contain any text, such as a label `inf`.
const GEOMETRY: &[&str] =
    &["d", "height", "points", "rx", "transform", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2"];

fn read_attributes(mut rest: &str) -> Result<(), String> {
    while !rest.trim().is_empty() {
        let (name, after) = rest.split_once("=\"").ok_or(format!("no attribute: {rest:?}"))?;
        if !name.trim().chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-') {
            return Err(format!("no name: {name:?}"));
        }
        let (value, after) = after.split_once('"').ok_or("unterminated quotes")?;
        unescape(value)?;
        if GEOMETRY.contains(&name.trim()) && (value.contains("NaN") || value.contains("inf")) {
            return Err(format!("{name} is not finite: {value}"));
        }
        rest = after;
    }
    Ok(())
}

fn unescape(text: &str) -> Result<String, String> {
    let is_allowed = |letter: char| {
        matches!(letter, '\t' | '\n' | '\r') || (letter >= ' ' && !matches!(letter, '\u{fffe}' | '\u{ffff}'))
    };
    if let Some(letter) = text.chars().find(|letter| !is_allowed(*letter)) {
        return Err(format!("{letter:?} is not allowed"));
    }
    let (mut result, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('&') {
        let end = rest[at..].find(';').ok_or("an entity does not end")? + at;
        result.push_str(&rest[..at]);
        result.push(match &rest[at + 1..end] {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            other => return Err(format!("no entity: {other}")),
        });
        rest = &rest[end + 1..];
    }
    Ok(result + rest)
}

/// Parses DOT minimally, in the form that this crate writes: statements of quoted names, arrows and
/// attributes.
fn read_dot(text: &str) -> Result<(Vec<String>, usize), String> {
    let body = text
        .strip_prefix("strict digraph {\n")
        .and_then(|text| text.strip_suffix("}\n"))
        .ok_or("no graph")?;
    let (mut names, mut n_edges) = (Vec::new(), 0);
    for line in body.split_inclusive(";\n") {
        let (name, rest) = read_name(line)?;
        if let Some(other) = rest.strip_prefix(" -> ") {
            let (_, rest) = read_name(other)?;
            n_edges += 1;
            if rest != ";\n" {
                return Err(format!("after an edge: {rest:?}"));
            }
        } else {
            names.push(name.to_owned());
            if rest != ";\n" && !(rest.starts_with(" [") && rest.ends_with("];\n")) {
                return Err(format!("after a vertex: {rest:?}"));
            }
        }
    }
    Ok((names, n_edges))
}

fn read_name(text: &str) -> Result<(&str, &str), String> {
    let inner = text.strip_prefix('"').ok_or(format!("no quotes: {text:?}"))?;
    let mut is_escaped = false;
    for (at, letter) in inner.char_indices() {
        match letter {
            '"' if !is_escaped => return Ok((&inner[..at], &inner[at + 1..])),
            '\n' => return Err("a name ends with the line".to_owned()),
            _ => is_escaped = letter == '\\' && !is_escaped,
        }
    }
    Err("unterminated quotes".to_owned())
}

proptest! {
    #[test]
    fn svg_is_well_formed_xml(drawing in drawing()) {
        let text = Svg(&drawing).to_string();
        let titles = read_xml(&text).map_err(TestCaseError::fail)?;
        // The document has a title, and so has every vertex.
        prop_assert!(titles.len() > drawing.vertices.len());
        prop_assert_eq!(&text, &Svg(&drawing).to_string());
    }

    #[test]
    fn dot_contains_each_name_once(drawing in drawing()) {
        let (names, n_edges) = read_dot(&Dot(&drawing).to_string()).map_err(TestCaseError::fail)?;
        prop_assert_eq!(names.len(), drawing.vertices.len());
        prop_assert_eq!(n_edges, drawing.edges.len());
        if drawing.vertices.iter().all(|vertex| !vertex.id.chars().any(char::is_control)) {
            prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        }
    }

    #[test]
    fn mermaid_labels_are_escaped(drawing in drawing()) {
        let text = Mermaid(&drawing).to_string();
        for line in text.lines() {
            prop_assert!(matches!(line.matches('"').count(), 0 | 2), "{line}");
            if let Some(label) = line.split('"').nth(1) {
                prop_assert!(!label.contains(['<', '>', '`', '[', ']', '{', '}', '(', ')']), "{}", line);
            }
        }
        prop_assert_eq!(text.matches(" --> ").count(), drawing.edges.len());
    }
}

#[test]
fn xml_parser_rejects_malformed_input() {
    for wrong in
        ["<a>", "<a></b>", "<a x=1/>", "<a/><b/>", "<a>&x;</a>", "<a>\u{1}</a>", "a", "<a x=\"<\"", "<a"]
    {
        assert!(read_xml(wrong).is_err(), "{wrong}");
    }
    assert_eq!(
        read_xml("<a x=\"1\"><title>&lt;b&gt;</title><c/></a>").as_deref(),
        Ok(&["<b>".to_owned()][..])
    );
}
