//! Renders diagnostics for a terminal in the style of rustc.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str};
use stoker_diagnostics::{Diagnostic, DiagnosticNote, ProblemOrigin, Severity, Span};
use stoker_yaql::presentation::collapse_whitespace;

/// Renders one diagnostic with ANSI styles; the printer strips them where needed. Shows an excerpt if the location has a
/// text and a span; otherwise the title names the file, and a note the provenance.
pub(crate) fn render(diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let location = &diagnostic.location;
    let excerpt = location.text.as_deref().zip(location.span);
    let headline = diagnostic.headline();
    let headline = match &location.file {
        Some(file) if excerpt.is_none() => format!("`{file}`: {headline}"),
        _ => headline,
    };
    let mut title = level.primary_title(collapse_whitespace(&headline));
    if !diagnostic.code.is_empty() {
        title = title.id(&*diagnostic.code);
    }
    let mut group = Group::with_title(title);
    let (labels, notes): (Vec<&DiagnosticNote>, Vec<&DiagnosticNote>) = diagnostic
        .notes
        .iter()
        .partition(|note| excerpt.is_some() && note.file.is_none() && note.span.is_some());
    if let Some((text, span)) = excerpt {
        let mut snippet = Snippet::source(text).annotation(AnnotationKind::Primary.span(clamp(span, text)));
        if let Some(file) = &location.file {
            snippet = snippet.path(file);
        }
        for label in labels {
            let span = clamp(label.span.unwrap_or_default(), text);
            snippet = snippet.annotation(AnnotationKind::Context.span(span).label(&*label.message));
        }
        group = group.element(snippet);
    } else if let Some(text) = location.provenance.as_ref().and_then(provenance_text) {
        group = group.element(Level::NOTE.message(normalize_untrusted_str(&text)));
    }
    for note in notes {
        group = group.element(Level::NOTE.message(normalize_untrusted_str(&note_text(note))));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
    }
    Renderer::styled().render(&[group])
}

fn note_text(note: &DiagnosticNote) -> String {
    match (&note.file, note.span) {
        (Some(file), Some(span)) => format!("{}: {file}:{}", note.message, span.start),
        (None, Some(span)) => format!("{}: line {}", note.message, span.start.line),
        (_, None) => note.message.to_string(),
    }
}

/// Describes the layer, file and line that a problem comes from, if they are known.
fn provenance_text(provenance: &ProblemOrigin) -> Option<String> {
    let location = match (&provenance.file, provenance.line) {
        (Some(file), Some(line)) => Some(format!("{file}:{line}")),
        (Some(file), None) => Some(file.clone()),
        // Without a layer, the line refers to a request body that the command composed.
        (None, Some(line)) if provenance.layer.is_some() => Some(format!("line {line} of the uploaded file")),
        (None, _) => None,
    };
    let layer = provenance.layer.as_ref().map(|layer| format!("layer `{layer}`"));
    let parts: Vec<String> = location.into_iter().chain(layer).collect();
    (!parts.is_empty()).then(|| collapse_whitespace(&parts.join(", ")))
}

/// Clamps a span to character boundaries of the text, as the renderer requires.
fn clamp(span: Span, text: &str) -> Range<usize> {
    let bytes = span.bytes();
    let start = text.floor_char_boundary(bytes.start.min(text.len()));
    let end = text.ceil_char_boundary(bytes.end.clamp(start, text.len()));
    start..end
}

#[cfg(test)]
mod tests {
    use stoker_diagnostics::Position;

    use super::*;

    fn rendered(diagnostic: &Diagnostic) -> String {
        anstream::adapter::strip_str(&render(diagnostic)).to_string()
    }

    #[test]
    fn any_span_renders() {
        let position = |offset: usize| Position { offset: offset as u32, ..Position::default() };
        let texts = ["", "a", "ä\u{1b}\tb\r\nc\n\n", "\n", "a\n\u{feff}b", "🦀 + 1"];
        for text in texts {
            for start in 0..text.len() + 2 {
                for end in 0..text.len() + 2 {
                    let span = Span { start: position(start), end: position(end) };
                    let reverse = Span { start: position(end), end: position(start) };
                    let diagnostic = Diagnostic::plain("m").at(span).in_source("x", text);
                    let output = render(&diagnostic.related(reverse, "here"));
                    assert!(output.contains('m'), "{text:?} {start}..{end}");
                }
            }
        }
    }

    #[test]
    fn title_is_one_line() {
        assert_eq!(rendered(&Diagnostic::error("c", "a\nb")), "error[c]: a b");
    }

    #[test]
    fn line_of_a_composed_request_is_not_shown() {
        let text = |layer: Option<&str>| {
            provenance_text(&ProblemOrigin { layer: layer.map(str::to_owned), file: None, line: Some(1) })
        };
        assert_eq!(text(None), None);
        assert_eq!(text(Some("cluster")).as_deref(), Some("line 1 of the uploaded file, layer `cluster`"));
    }

    #[test]
    fn location_without_text_is_part_of_title_and_notes() {
        let span = Span::in_text("a: 1\nb: 2", 5..6);
        let diagnostic = Diagnostic::warning("c", "odd").at(span).in_file("x.yaml").path("b").help("fix it");
        let related = diagnostic.clone().related(span, "first").related_in("y.yaml", span, "second");
        assert_eq!(
            rendered(&related.provenance(Some(ProblemOrigin {
                layer: Some("cluster".to_owned()),
                file: Some("up.yaml".to_owned()),
                line: Some(3)
            }))),
            "warning[c]: `x.yaml`: b: odd\n |\n = note: up.yaml:3, layer `cluster`\n = note: first: line 2\n = note: second: y.yaml:2:1\n = help: fix it"
        );
        let output = rendered(&diagnostic.related(span, "here").in_source("x.yaml", "a: 1\nb: 2"));
        assert!(
            output.contains("x.yaml:2:1") && output.contains("here") && !output.contains("note"),
            "{output}"
        );
    }
}
