//! Readers of typed values, one function per form, composed in the structure of the document.
//!
//! A reader is a function `(&Node, &mut Diagnostics) -> Option<T>`: it returns the value, or reports why it is
//! invalid. A failure does not stop other readers, so one pass finds all problems:
//!
//! ```
//! use stoker_manifest::reader::{Fields, FieldUpdate, boolean, list_of, map_of, nullable, string, string_with_length};
//! use stoker_diagnostics::Diagnostics;
//! use stoker_manifest::{Format, parse};
//!
//! let body = parse(r#"{"name": "", "roles": ["compute", 7], "labels": {"rack": null}, "nmae": 1}"#, Format::Json);
//! let (node, mut problems) = (body.unwrap(), Diagnostics::default());
//! let mut fields = Fields::new(&node, &mut problems).unwrap();
//! let name = fields.required("name", string_with_length(1..=100));
//! let roles = fields.optional("roles", list_of(string));
//! let labels = fields.optional("labels", map_of(nullable(string_with_length(1..=100))));
//! let online = fields.update("online", boolean);
//! fields.finish();
//! assert_eq!((name, roles), (None, None));
//! assert_eq!(labels, Some(vec![("rack".to_owned(), None)]));
//! assert_eq!(online, FieldUpdate::Absent);
//! let messages: Vec<String> =
//!     problems.into_vec().iter().map(|problem| format!("{}: {}", problem.location.path, problem.message)).collect();
//! assert_eq!(messages, [
//!     "name: must have 1 to 100 characters, got 0",
//!     "roles[1]: must be text, got an integer",
//!     "nmae: unknown key `nmae`",
//! ]);
//! ```

mod choice;
mod collections;
mod fields;
mod json;
mod scalars;

#[cfg(test)]
mod tests;

pub use choice::{enum_of, one_of};
pub use collections::{list_of, map_of, nullable, object};
pub(crate) use fields::key_text;
pub use fields::{FieldUpdate, Fields};
pub use json::{json, json_list, json_map};
pub(crate) use scalars::text;
pub use scalars::{boolean, identifier, integer, integer_in, string, string_with_length};

use stoker_diagnostics::{Diagnostic, Diagnostics};
use stoker_yaml::{Node, NodeKind, Span};
use stoker_yaql::eval::suggest::closest_name;

use crate::codes;

/// Reports that a node does not have the expected form ("text", "a list").
pub fn report_wrong_type<'p>(
    node: &Node,
    expected: &str,
    problems: &'p mut Diagnostics,
) -> &'p mut Diagnostic {
    let message = format!("must be {expected}, got {}", kind_name(node));
    problems.error(codes::TYPE, head(node), message)
}

/// Returns a suggestion for an unknown word, if a known one is similar and the limit of suggestions is not
/// reached.
pub fn did_you_mean<'a>(
    word: &str,
    known_words: impl Iterator<Item = &'a str>,
    problems: &mut Diagnostics,
) -> Option<String> {
    problems.suggest(|| closest_name(word, known_words).map(|best| format!("did you mean `{best}`?")))
}

/// Returns the type of a node in the terms of document authors.
pub(crate) fn kind_name(node: &Node) -> &'static str {
    match &node.kind {
        NodeKind::Seq(_) => "a list",
        NodeKind::Map(_) => "a map",
        NodeKind::Scalar(scalar) => scalar.kind_name(),
    }
}

/// Returns the span for a problem with a whole map or list: only its start, because underlining a page of
/// text is not readable.
pub(crate) fn head(node: &Node) -> Span {
    match &node.kind {
        NodeKind::Map(entries) => entries.first().map_or(node.span, |(key, _)| key.span),
        NodeKind::Seq(items) => {
            items.first().map_or(node.span, |item| Span { end: item.span.start, ..node.span })
        }
        NodeKind::Scalar(_) => node.span,
    }
}
