//! Diagnostics as text for a terminal, in the manner of rustc.

use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str,
};

use crate::diagnostic::{Diagnostic, Place, Severity};
use stoker_yaql::people::one_line;

/// Draws one diagnostic with colours; whoever prints it takes them out where they are not wanted.
pub(crate) fn render(diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut title = level.primary_title(one_line(&diagnostic.message));
    if let Some(code) = &diagnostic.code {
        title = title.id(code.as_str());
    }
    let mut group = Group::with_title(title);
    if let Some(place) = &diagnostic.place {
        group = group.element(snippet(place));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(normalize_untrusted_str(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
    }
    Renderer::styled().render(&[group])
}

fn snippet(place: &Place) -> Snippet<'_, Annotation<'_>> {
    let text: &str = &place.text;
    let primary = AnnotationKind::Primary.span(within(&place.span, text));
    let mut snippet = Snippet::source(text).path(&place.origin).annotation(primary);
    if let Some((span, label)) = &place.related {
        snippet = snippet.annotation(AnnotationKind::Context.span(within(span, text)).label(label.as_str()));
    }
    snippet
}

/// The span moved to boundaries of characters inside the text, for a caret cannot stand elsewhere.
fn within(span: &Range<usize>, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.ceil_char_boundary(span.end.clamp(start, text.len()));
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_span_can_be_drawn() {
        let texts = ["", "a", "ä\u{1b}\tb\r\nc\n\n", "\n", "a\n\u{feff}b", "🦀 + 1"];
        for text in texts {
            for start in 0..text.len() + 2 {
                for end in 0..text.len() + 2 {
                    let mut place = Place::new("x", text, start..end);
                    place.related = Some((end..start, "here".to_owned()));
                    let drawn = render(&Diagnostic::error("m").at(place));
                    assert!(drawn.contains('m'), "{text:?} {start}..{end}");
                }
            }
        }
    }

    #[test]
    fn a_title_is_one_line() {
        let drawn = render(&Diagnostic::error("a\nb").code("c"));
        assert_eq!(anstream::adapter::strip_str(&drawn).to_string(), "error[c]: a b");
    }
}
