//! Text measurement without a font, accurate enough for boxes around labels.

use std::fmt;

use crate::drawing::Vertex;

const PADDING: f64 = 12.0;
/// Longer labels are truncated; the title of the vertex has the full text.
const LABEL_LEN_MAX: usize = 44;

/// Approximate width of a text in a 12 px sans-serif font, in pixels.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(letter_width).sum()
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' => 3.6,
        'f' | 't' | 'r' | ' ' | '-' | '(' | ')' | '[' | ']' | '/' => 4.8,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 10.6,
        'A'..='Z' => 8.6,
        '\u{20}'..='\u{24ff}' => 7.0,
        _ => 12.0,
    }
}

/// The label as drawn.
pub(super) fn label(vertex: &Vertex) -> String {
    let mark = vertex.appearance.style().mark;
    let mut text = if mark.is_empty() { String::new() } else { format!("{mark} ") };
    if vertex.label.chars().count() > LABEL_LEN_MAX {
        text.extend(vertex.label.chars().take(LABEL_LEN_MAX - 1).chain(['…']));
    } else {
        text.push_str(&vertex.label);
    }
    text
}

pub(super) fn box_width(vertex: &Vertex) -> f64 {
    (width(&label(vertex)) + 2.0 * PADDING).max(40.0)
}

/// Text escaped for XML; characters that XML cannot contain are replaced.
pub(super) struct Escaped<'t>(pub(super) &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\t' | '\n' | '\r' => f.write_str(" ")?,
                '\u{fffe}' | '\u{ffff}' => f.write_str("\u{fffd}")?,
                control if control.is_control() => f.write_str("\u{fffd}")?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}
