//! Renders diagnostics for a terminal in the style of rustc.

use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str,
};

use crate::diagnostic::{Diagnostic, Severity, SourceLocation};
use stoker_yaql::presentation::collapse_whitespace;

/// Renders one diagnostic with ANSI styles; the printer strips them where needed.
pub(crate) fn render(diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut title = level.primary_title(collapse_whitespace(&diagnostic.message));
    if let Some(code) = &diagnostic.code {
        title = title.id(code.as_str());
    }
    let mut group = Group::with_title(title);
    if let Some(location) = &diagnostic.location {
        group = group.element(snippet(location));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(normalize_untrusted_str(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
    }
    Renderer::styled().render(&[group])
}

fn snippet(location: &SourceLocation) -> Snippet<'_, Annotation<'_>> {
    let text: &str = &location.text;
    let primary = AnnotationKind::Primary.span(clamp(&location.span, text));
    let mut snippet = Snippet::source(text).path(&location.origin).annotation(primary);
    if let Some((span, label)) = &location.related {
        snippet = snippet.annotation(AnnotationKind::Context.span(clamp(span, text)).label(label.as_str()));
    }
    snippet
}

/// Clamps a span to character boundaries of the text, as the renderer requires.
fn clamp(span: &Range<usize>, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.ceil_char_boundary(span.end.clamp(start, text.len()));
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_span_renders() {
        let texts = ["", "a", "ä\u{1b}\tb\r\nc\n\n", "\n", "a\n\u{feff}b", "🦀 + 1"];
        for text in texts {
            for start in 0..text.len() + 2 {
                for end in 0..text.len() + 2 {
                    let mut location = SourceLocation::new("x", text, start..end);
                    location.related = Some((end..start, "here".to_owned()));
                    let output = render(&Diagnostic::error("m").at(location));
                    assert!(output.contains('m'), "{text:?} {start}..{end}");
                }
            }
        }
    }

    #[test]
    fn title_is_one_line() {
        let output = render(&Diagnostic::error("a\nb").code("c"));
        assert_eq!(anstream::adapter::strip_str(&output).to_string(), "error[c]: a b");
    }
}
