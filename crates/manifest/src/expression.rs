//! Computed fields: `{yaql_exp: text}`. Asked is whether such a text is an expression, and
//! whether it has words that mean something else elsewhere.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_yaml::{Node, NodeKind, Scalar, place_in};
use stoker_yaql::lint::lint;
use stoker_yaql::syntax::{Grammar, parse};

use crate::problem::{Problems, codes, quoted};
use crate::reader::wrong_kind;

/// The one key of a computed value.
pub(crate) const KEY: &str = "yaql_exp";

/// The key under which text is taken as it is, whatever it looks like.
const VERBATIM: &str = "regex";

/// Whether a value stands for one that is computed later. Whether it does so correctly, [`Expressions`] says.
pub(crate) fn is_computed(node: &Node) -> bool {
    node.get(KEY).is_some()
}

/// Checks expressions of one text, equal ones once.
pub(crate) struct Expressions<'t> {
    text: &'t str,
    known: HashMap<Arc<str>, Vec<Mistake>>,
}

/// Why an expression is none, or what it probably does not mean.
#[derive(Clone)]
struct Mistake {
    is_error: bool,
    span: Option<stoker_yaql::Span>,
    message: String,
    help: Option<String>,
}

impl<'t> Expressions<'t> {
    /// `text` is what the nodes were read from.
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, known: HashMap::new() }
    }

    /// Checks every computed value in a node, at any depth.
    pub(crate) fn check_all(&mut self, node: &Node, problems: &mut Problems) {
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
                    // A key that is no text is reported by whoever keeps the map.
                    if let Some(name) = key.as_str().filter(|name| *name != VERBATIM) {
                        problems.in_key(name, |problems| self.check_all(value, problems));
                    }
                }
            }
        }
    }

    fn check_computed(&mut self, entries: &[(Node, Node)], problems: &mut Problems) {
        for (key, value) in entries {
            let name = key.as_scalar().map(ToString::to_string).unwrap_or_default();
            if name == KEY {
                problems.in_key(KEY, |problems| self.check(value, problems));
            } else {
                let message = format!("`{KEY}` stands alone, {} beside it would be lost", quoted(&name));
                problems.error(codes::EXPRESSION, key.span, message).help("remove one of them".to_owned());
            }
        }
    }

    /// Checks one expression.
    pub(crate) fn check(&mut self, node: &Node, problems: &mut Problems) {
        let NodeKind::Scalar(Scalar::Str(source)) = &node.kind else {
            let help = node.as_scalar().map(|_| "put it in quotes".to_owned());
            return wrong_kind(node, "an expression, which is text", problems).help(help);
        };
        let mistakes = match self.known.get(source) {
            Some(known) => known,
            None => self.known.entry(source.clone()).or_insert_with(|| mistakes(source)),
        };
        for mistake in mistakes {
            let span = match mistake.span {
                // Finding the place costs a look at the text from its beginning.
                Some(span) if !problems.is_full() => {
                    place_in(node, self.text, span.start as usize..span.end as usize)
                }
                _ => node.span,
            };
            let problem = if mistake.is_error {
                problems.error(codes::EXPRESSION, span, format!("not an expression: {}", mistake.message))
            } else {
                problems.warning(codes::BARE_WORD, span, mistake.message.clone())
            };
            problem.help(mistake.help.clone());
        }
    }
}

fn mistakes(source: &str) -> Vec<Mistake> {
    match parse(source, Grammar::default()) {
        Ok(tree) => {
            // What can be called is known where it is evaluated.
            let hints = lint(&tree, None).into_iter();
            hints
                .map(|hint| Mistake {
                    is_error: false,
                    span: Some(hint.span),
                    message: hint.message,
                    help: hint.help,
                })
                .collect()
        }
        Err(error) => {
            let message = error.short_message().to_owned();
            vec![Mistake { is_error: true, span: error.span, message, help: error.help }]
        }
    }
}
