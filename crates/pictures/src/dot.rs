//! DOT, the language of Graphviz.

use std::fmt;

use crate::drawing::Diagram;

/// Displays a drawing as a strict digraph.
pub struct Dot<'d>(pub &'d Diagram);

impl fmt::Display for Dot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("strict digraph {\n")?;
        if let Some(omission_note) = self.0.omission_note() {
            writeln!(f, "// {omission_note}")?;
        }
        for vertex in &self.0.vertices {
            write!(f, "{}", Quoted(&vertex.id))?;
            let attributes = vertex.appearance.style().dot;
            if !attributes.is_empty() {
                write!(f, " [{attributes}]")?;
            }
            f.write_str(";\n")?;
        }
        for (from, to) in &self.0.edges {
            let id =
                |vertex_idx: &u32| self.0.vertices.get(*vertex_idx as usize).map(|vertex| vertex.id.as_str());
            if let (Some(from), Some(to)) = (id(from), id(to)) {
                writeln!(f, "{} -> {};", Quoted(from), Quoted(to))?;
            }
        }
        f.write_str("}\n")
    }
}

/// A quoted name. Backslashes are doubled, so that distinct names stay distinct and none ends the quotes.
struct Quoted<'t>(&'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for letter in self.0.chars() {
            match letter {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                control if control.is_control() => f.write_str("\u{fffd}")?,
                other => write!(f, "{other}")?,
            }
        }
        f.write_str("\"")
    }
}
