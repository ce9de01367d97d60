//! Text measurement without a font, accurate enough for boxes around labels.

use std::fmt;

use pulldown_cmark_escape::{FmtWriter, escape_html};

use crate::drawing::Vertex;

const PADDING: f64 = 12.0;
/// Maximum length of a label. Longer labels are truncated; the title of the vertex has the full text.
const LABEL_LEN_MAX: usize = 44;

/// Returns the approximate width of a text in a 12 px sans-serif font, in pixels.
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

/// Returns the label as drawn.
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
        let representable: String = self.0.chars().map(representable).collect();
        escape_html(FmtWriter(f), &representable)
    }
}

/// Replaces characters that a label cannot contain: a line break becomes a space, because a label has one
/// line. XML 1.0 cannot represent other control characters.
fn representable(letter: char) -> char {
    match letter {
        '\t' | '\n' | '\r' => ' ',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        control if control.is_control() => '\u{fffd}',
        other => other,
    }
}
