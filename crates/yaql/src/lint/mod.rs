//! Static checks for likely mistakes in expressions.

mod bare_words;
mod outline;

use std::sync::Arc;

use crate::error::Span;
use crate::eval::suggest;
use crate::library::Library;
use crate::syntax::Tree;

pub use outline::{Call, Outline, outline};

/// A lint finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pub kind: HintKind,
    /// Byte range in the expression.
    pub span: Span,
    /// Lowercase sentence fragment without a trailing period.
    pub message: String,
    /// Suggested fix.
    pub help: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// A call of a function or method that the library lacks.
    UnknownFunction,
    /// A bare word that is a constant in other languages but a string in YAQL.
    BareWord,
}

/// Returns all findings in source order. Calls are checked only if there is a library.
pub fn lint(tree: &Tree, library: Option<&Library>) -> Vec<Hint> {
    let mut hints = bare_words::bare_words(tree);
    hints.extend(library.into_iter().flat_map(|library| unknown_calls(&outline(tree), library)));
    hints.sort_by_key(|hint| (hint.span.start, hint.span.end));
    hints
}

/// Returns the calls of functions that are neither in the library nor defined by the expression.
pub fn unknown_calls(outline: &Outline, library: &Library) -> Vec<Hint> {
    let defined: Vec<Arc<str>> = outline.defined_functions.iter().map(|name| name.as_str().into()).collect();
    let is_unknown = |call: &&Call| {
        let in_library =
            library.get(&call.name).is_some_and(|entry| !entry.layers(call.is_method).is_empty());
        let in_text =
            !call.is_method && (outline.has_computed_names || outline.defined_functions.contains(&call.name));
        !in_library && !in_text
    };
    let hint = |call: &Call| {
        let (style, help) = if call.is_method {
            ("method", suggest::method(library, &call.name))
        } else {
            ("function", suggest::function(library, &call.name, &defined))
        };
        let message = format!("there is no {style} `{}`", call.name);
        Hint { kind: HintKind::UnknownFunction, span: call.span, message, help }
    };
    outline.calls.iter().filter(is_unknown).map(hint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Grammar, parse};

    /// Formats each finding as `source text: message (help)`.
    fn findings(source: &str) -> Vec<String> {
        let tree = parse(source, Grammar::default()).unwrap();
        let library = Library::standard();
        let format_hint = |hint: Hint| {
            let piece = &source[hint.span.start as usize..hint.span.end as usize];
            format!("{piece}: {} ({})", hint.message, hint.help.unwrap_or_default())
        };
        lint(&tree, Some(&library)).into_iter().map(format_hint).collect()
    }

    #[test]
    fn foreign_constants_are_reported_as_strings() {
        let remedy = |word: &str, constant: &str| {
            format!(
                "{word}: `{word}` is the text \"{word}\" here (write `{constant}`, or put it in quotes if the text is meant)"
            )
        };
        for (source, word, constant) in [
            ("$.debug = True", "True", "true"),
            ("False != $.x", "False", "false"),
            ("$.x = None", "None", "null"),
            ("$.x and True", "True", "true"),
            ("not None", "None", "null"),
            ("$.get(a, None)", "None", "null"),
            ("$.get(a, default => None)", "None", "null"),
            ("[1, undef]", "undef", "null"),
            ("{a => NULL}", "NULL", "null"),
            ("switch($.x => None)", "None", "null"),
            ("$.where($.a = True)", "True", "true"),
        ] {
            assert_eq!(findings(source), [remedy(word, constant)], "{source}");
        }
    }

    #[test]
    fn keys_argument_names_and_quoted_strings_are_not_reported() {
        for source in [
            "$.None",
            "$.get(None)",
            "$.x = 'True'",
            "{None => 1}",
            "$.x = none",
            "dict(True => 1)",
            "$[None]",
        ] {
            assert_eq!(findings(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn unknown_calls_are_reported_with_suggestions() {
        assert_eq!(findings("$.slect($)"), ["slect: there is no method `slect` (did you mean `select`?)"]);
        assert_eq!(findings("lenn($)"), ["lenn: there is no function `lenn` (did you mean `len`?)"]);
        assert_eq!(findings("def(own, $ + 1) -> own(1)"), [""; 0]);
        assert_eq!(findings("$.where($.a = True).lst()").len(), 2);
    }
}
