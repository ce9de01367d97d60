//! What an expression says and probably does not mean, found without evaluating it.

mod outline;
mod words;

use std::sync::Arc;

use crate::error::Span;
use crate::eval::suggest;
use crate::library::Library;
use crate::syntax::Tree;

pub use outline::{Call, Outline, outline};

/// Something to tell the author of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pub kind: HintKind,
    /// Bytes of the expression.
    pub span: Span,
    /// A lowercase fragment without a full stop.
    pub message: String,
    /// What the author can do.
    pub help: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// A call of something that the library does not have.
    UnknownFunction,
    /// A word that means a constant elsewhere and is text here.
    BareWord,
}

/// Everything worth telling, in the order of the text. Without a library nothing is said about calls.
pub fn lint(tree: &Tree, library: Option<&Library>) -> Vec<Hint> {
    let mut hints = words::bare_words(tree);
    hints.extend(library.into_iter().flat_map(|library| unknown_calls(&outline(tree), library)));
    hints.sort_by_key(|hint| (hint.span.start, hint.span.end));
    hints
}

/// Calls of what is neither in the library nor defined by the expression itself.
pub fn unknown_calls(outline: &Outline, library: &Library) -> Vec<Hint> {
    let defined: Vec<Arc<str>> = outline.defined.iter().map(|name| name.as_str().into()).collect();
    let is_unknown = |call: &&Call| {
        let in_library =
            library.get(&call.name).is_some_and(|entry| !entry.layers(call.is_method).is_empty());
        let in_text = !call.is_method && (outline.has_computed_names || outline.defined.contains(&call.name));
        !in_library && !in_text
    };
    let hint = |call: &Call| {
        let (what, help) = if call.is_method {
            ("method", suggest::method(library, &call.name))
        } else {
            ("function", suggest::function(library, &call.name, &defined))
        };
        let message = format!("there is no {what} `{}`", call.name);
        Hint { kind: HintKind::UnknownFunction, span: call.span, message, help }
    };
    outline.calls.iter().filter(is_unknown).map(hint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Grammar, parse};

    /// Each hint as `the piece of text: message (help)`.
    fn told(source: &str) -> Vec<String> {
        let tree = parse(source, Grammar::default()).unwrap();
        let library = Library::standard();
        let told = |hint: Hint| {
            let piece = &source[hint.span.start as usize..hint.span.end as usize];
            format!("{piece}: {} ({})", hint.message, hint.help.unwrap_or_default())
        };
        lint(&tree, Some(&library)).into_iter().map(told).collect()
    }

    #[test]
    fn words_of_other_languages_are_text_here() {
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
            assert_eq!(told(source), [remedy(word, constant)], "{source}");
        }
    }

    #[test]
    fn names_and_quoted_texts_are_what_they_are() {
        for source in [
            "$.None",
            "$.get(None)",
            "$.x = 'True'",
            "{None => 1}",
            "$.x = none",
            "dict(True => 1)",
            "$[None]",
        ] {
            assert_eq!(told(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn unknown_calls_are_told_with_what_may_be_meant() {
        assert_eq!(told("$.slect($)"), ["slect: there is no method `slect` (did you mean `select`?)"]);
        assert_eq!(told("lenn($)"), ["lenn: there is no function `lenn` (did you mean `len`?)"]);
        assert_eq!(told("def(own, $ + 1) -> own(1)"), [""; 0]);
        assert_eq!(told("$.where($.a = True).lst()").len(), 2);
    }
}
