//! Mermaid, which many Markdown renderers display as a diagram.

use std::collections::HashMap;
use std::fmt;

use crate::appearance::{Appearance, Shape, Style};
use crate::drawing::{Diagram, Vertex};

/// Displays a drawing as a left-to-right flowchart.
pub struct Mermaid<'d>(pub &'d Diagram);

impl fmt::Display for Mermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flowchart LR\n")?;
        if let Some(omission_note) = self.0.omission_note() {
            writeln!(f, "  %% {omission_note}")?;
        }
        for (cluster_idx, (name, vertices)) in clusters(self.0).iter().enumerate() {
            if let Some(name) = name {
                writeln!(f, "  subgraph c{cluster_idx}[{}]", Quoted(name))?;
            }
            for (vertex_idx, vertex) in vertices {
                write_vertex(f, *vertex_idx, vertex)?;
            }
            if name.is_some() {
                f.write_str("  end\n")?;
            }
        }
        for (from, to) in &self.0.edges {
            writeln!(f, "  v{from} --> v{to}")?;
        }
        for looks in Appearance::ALL
            .iter()
            .filter(|looks| self.0.vertices.iter().any(|vertex| vertex.appearance == **looks))
        {
            let style = looks.style();
            let (fill, border) = style.light;
            let dashes = if style.is_dashed { ",stroke-dasharray:4 3" } else { "" };
            writeln!(f, "  classDef {} fill:{fill},stroke:{border},color:#1a1a1a{dashes}", class(&style))?;
        }
        Ok(())
    }
}

/// The name of a cluster, and its vertices with their indices.
type Cluster<'d> = (Option<&'d str>, Vec<(usize, &'d Vertex)>);

/// Returns the clusters in order of first occurrence.
fn clusters(drawing: &Diagram) -> Vec<Cluster<'_>> {
    let mut index_of: HashMap<Option<&str>, usize> = HashMap::new();
    let mut clusters: Vec<Cluster<'_>> = Vec::new();
    for (vertex_idx, vertex) in drawing.vertices.iter().enumerate() {
        let name = vertex.cluster.as_deref();
        let cluster_idx = *index_of.entry(name).or_insert_with(|| {
            clusters.push((name, Vec::new()));
            clusters.len() - 1
        });
        clusters[cluster_idx].1.push((vertex_idx, vertex));
    }
    clusters
}

fn write_vertex(f: &mut fmt::Formatter<'_>, vertex_idx: usize, vertex: &Vertex) -> fmt::Result {
    let style = vertex.appearance.style();
    let (open, close) = match style.shape {
        Shape::Rounded => ("(", ")"),
        Shape::Box => ("[", "]"),
        Shape::Double => ("[[", "]]"),
        Shape::Hexagon => ("{{", "}}"),
    };
    let space = if style.mark.is_empty() { "" } else { " " };
    let label = format!("{}{space}{}", style.mark, vertex.label);
    writeln!(f, "    v{vertex_idx}{open}{}{close}:::{}", Quoted(&label), class(&style))
}

/// Replaces dashes, which Mermaid would parse as the start of an arrow.
fn class(style: &Style) -> String {
    style.class.replace('-', "_")
}

/// A quoted label. Characters with a special meaning are written as numeric entities.
struct Quoted<'t>(&'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for letter in self.0.chars() {
            match letter {
                letter if letter.is_alphanumeric() || " -_./:@,+=–○▶✓✗…".contains(letter) => {
                    write!(f, "{letter}")?;
                }
                control if control.is_control() => f.write_str("#65533;")?,
                other => write!(f, "#{};", u32::from(other))?,
            }
        }
        f.write_str("\"")
    }
}
