//! Output for a small graph.

use stoker_pictures::{Appearance, Diagram, Dot, Mermaid, Svg, Vertex};

fn vertex(label: &str, node: &str, looks: Appearance) -> Vertex {
    Vertex {
        id: format!("Task[{label}/{node}]"),
        label: label.to_owned(),
        appearance: looks,
        cluster: Some(node.to_owned()),
    }
}

fn run() -> Diagram {
    Diagram {
        title: "A run".to_owned(),
        vertices: vec![
            vertex("hiera", "1", Appearance::Successful),
            vertex("hiera", "2", Appearance::Running),
            vertex("a <b> & \"c\"", "1", Appearance::Failed),
            vertex("net", "2", Appearance::Pending),
            vertex("end", "sync", Appearance::WillSkip),
        ],
        edges: vec![(0, 2), (1, 3), (0, 3), (2, 4), (3, 4), (0, 4)],
        n_omitted: 0,
    }
}

#[test]
fn dot() {
    insta::assert_snapshot!(Dot(&run()));
}

#[test]
fn mermaid() {
    insta::assert_snapshot!(Mermaid(&run()));
}

#[test]
fn svg() {
    insta::assert_snapshot!(Svg(&run()));
}

#[test]
fn empty_drawing_is_rendered() {
    assert!(Svg(&Diagram::default()).to_string().ends_with("</svg>\n"));
    assert_eq!(Dot(&Diagram::default()).to_string(), "strict digraph {\n}\n");
}

#[test]
fn omitted_vertices_are_counted() {
    let many = Diagram {
        title: String::new(),
        vertices: (0..2_345).map(|number| vertex(&number.to_string(), "1", Appearance::Pending)).collect(),
        edges: (1..2_345).map(|number| (number / 3, number)).collect(),
        n_omitted: 5,
    };
    let text = Svg(&many).to_string();
    assert!(text.contains("350 more vertices are not drawn"));
    assert!(Dot(&many).to_string().contains("\n// 5 more vertices are not drawn"));
    assert!(Mermaid(&many).to_string().contains("%% 5 more vertices are not drawn"));
    assert_eq!(text.matches("<g><title>").count(), 2_000);
}

#[test]
fn closing_edge_of_a_cycle_is_not_drawn() {
    let ring = Diagram { edges: vec![(0, 1), (1, 2), (2, 0)], ..run() };
    assert_eq!(Svg(&ring).to_string().matches("class=\"edge\"").count(), 2);
}

#[test]
fn number_of_edges_is_bounded() {
    let all = Diagram {
        vertices: (0..300).map(|number| vertex(&number.to_string(), "1", Appearance::Pending)).collect(),
        edges: (0..150).flat_map(|from| (150..300).map(move |to| (from, to))).collect(),
        ..Diagram::default()
    };
    let text = Svg(&all).to_string();
    assert!(text.contains("12500 edges not drawn because there are too many"));
    assert_eq!(text.matches("class=\"edge\"").count(), 10_000);
}
