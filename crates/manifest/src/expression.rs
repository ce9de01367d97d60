//! Computed fields: `{yaql_exp: text}`. Checks that the text parses as an expression and contains no bare
//! words that are constants in other languages.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_diagnostics::{Diagnostics, Severity, quoted};
use stoker_yaml::{Node, NodeKind, Scalar, locate_in_scalar};
use stoker_yaql::lint::lint;
use stoker_yaql::syntax::{Grammar, parse};

use crate::codes;
use crate::reader::report_wrong_type;

/// The only key of a computed value.
pub(crate) const KEY: &str = "yaql_exp";

/// Values under this key are verbatim and never parsed as expressions.
const VERBATIM: &str = "regex";

/// Reports whether a value is computed. Its form is checked by [`Expressions`].
pub(crate) fn is_computed(node: &Node) -> bool {
    node.get(KEY).is_some()
}

/// Checks the expressions of one text; results are cached by source.
pub(crate) struct Expressions<'t> {
    text: &'t str,
    by_source: HashMap<Arc<str>, Vec<Mistake>>,
}

/// A syntax error or a lint of an expression.
#[derive(Clone)]
struct Mistake {
    severity: Severity,
    span: Option<stoker_yaql::Span>,
    message: String,
    help: Option<String>,
}

impl<'t> Expressions<'t> {
    /// Creates a checker. `text` is the text that the nodes were parsed from.
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, by_source: HashMap::new() }
    }

    /// Checks every computed value in a node, at any depth.
    pub(crate) fn check_all(&mut self, node: &Node, problems: &mut Diagnostics) {
        match &node.kind {
            NodeKind::Scalar(_) => {}
            NodeKind::Seq(items) => {
                for (item_idx, item) in items.iter().enumerate() {
                    problems.in_item(item_idx, |problems| self.check_all(item, problems));
                }
            }
            NodeKind::Map(entries) if is_computed(node) => self.check_computed(entries, problems),
            NodeKind::Map(entries) => {
                for (key, value) in entries.iter() {
                    // Keys that are not strings are reported by the reader of the map.
                    if let Some(name) = key.as_str().filter(|name| *name != VERBATIM) {
                        problems.in_key(name, |problems| self.check_all(value, problems));
                    }
                }
            }
        }
    }

    fn check_computed(&mut self, entries: &[(Node, Node)], problems: &mut Diagnostics) {
        for (key, value) in entries {
            let name = key.as_scalar().map(ToString::to_string).unwrap_or_default();
            if name == KEY {
                problems.in_key(KEY, |problems| self.check(value, problems));
            } else {
                let message =
                    format!("`{KEY}` must be the only key of its map, but {} is also present", quoted(&name));
                problems.error(codes::EXPRESSION, key.span, message).set_help("remove one of them");
            }
        }
    }

    /// Checks one expression.
    pub(crate) fn check(&mut self, node: &Node, problems: &mut Diagnostics) {
        let NodeKind::Scalar(Scalar::Str(source)) = &node.kind else {
            report_wrong_type(node, "an expression string", problems).set_help("put it in quotes");
            return;
        };
        let mistakes = match self.by_source.get(source) {
            Some(mistakes) => mistakes,
            None => self.by_source.entry(source.clone()).or_insert_with(|| mistakes(source)),
        };
        for mistake in mistakes {
            let span = match mistake.span {
                // Mapping a span into the text scans the text from its start.
                Some(span) if problems.has_room(mistake.severity) => {
                    locate_in_scalar(node, self.text, span.start as usize..span.end as usize)
                }
                _ => node.span,
            };
            let problem = if mistake.severity == Severity::Error {
                problems.error(codes::EXPRESSION, span, format!("invalid expression: {}", mistake.message))
            } else {
                problems.warning(codes::BARE_WORD, span, mistake.message.clone())
            };
            problem.help.clone_from(&mistake.help);
        }
    }
}

fn mistakes(source: &str) -> Vec<Mistake> {
    match parse(source, Grammar::default()) {
        Ok(tree) => {
            // The available functions are not known here; unknown calls are reported by later checks.
            let hints = lint(&tree, None).into_iter();
            hints
                .map(|hint| Mistake {
                    severity: Severity::Warning,
                    span: Some(hint.span),
                    message: hint.message,
                    help: hint.help,
                })
                .collect()
        }
        Err(error) => {
            let message = error.short_message().to_owned();
            vec![Mistake { severity: Severity::Error, span: error.span, message, help: error.help }]
        }
    }
}
