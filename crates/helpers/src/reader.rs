//! Reads of single YAML nodes that collect problems instead of failing.

use stoker_diagnostics::Diagnostic;
use stoker_yaml::{Node, NodeKind, Scalar, Span};
use stoker_yaql::Value;
use stoker_yaql::eval::suggest::closest_name;

use crate::codes;
use crate::data::yaql_value;

/// Parses the entries of one file.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a str,
    pub(crate) file_idx: usize,
    pub(crate) problems: Vec<Diagnostic>,
}

impl Reader<'_> {
    pub(crate) fn value(&mut self, node: &Node) -> Option<Value> {
        match yaql_value(node) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.push(problem.in_file(self.file));
                None
            }
        }
    }

    pub(crate) fn push(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    pub(crate) fn n_errors(&self) -> usize {
        self.problems.iter().filter(|problem| problem.is_error()).count()
    }

    pub(crate) fn shape(&mut self, node: &Node, requirement: &str) {
        let message = format!("{requirement}, got {}", node.kind_name());
        self.push(Diagnostic::error(codes::SHAPE, message).in_file(self.file).at(head(node)));
    }

    pub(crate) fn is_map(&mut self, node: &Node, requirement: &str) -> bool {
        let is_map = node.as_map().is_some();
        if !is_map {
            self.shape(node, requirement);
        }
        is_map
    }

    /// Requires a string. Numbers and dates are rejected instead of converted, because their original
    /// spelling is lost.
    pub(crate) fn text(&mut self, node: &Node, subject: &str) -> Option<String> {
        match &node.kind {
            NodeKind::Scalar(Scalar::Str(text)) if !text.trim().is_empty() => Some(text.to_string()),
            NodeKind::Scalar(Scalar::Str(_) | Scalar::Null) => {
                self.push(
                    Diagnostic::error(codes::SHAPE, format!("{subject} is empty"))
                        .in_file(self.file)
                        .at(node.span),
                );
                None
            }
            _ => {
                let message = format!("{subject} must be text, got {}", node.kind_name());
                let help =
                    matches!(node.kind, NodeKind::Scalar(_)).then(|| "put the value in quotes".to_owned());
                self.push(
                    Diagnostic::error(codes::SHAPE, message).in_file(self.file).at(head(node)).help_if(help),
                );
                None
            }
        }
    }

    pub(crate) fn required<'n>(&mut self, map: &'n Node, key: &str) -> Option<&'n Node> {
        let value = map.get(key);
        if value.is_none() {
            let message = format!("`{key}` is missing");
            self.push(Diagnostic::error(codes::MISSING_KEY, message).in_file(self.file).at(head(map)));
        }
        value
    }

    pub(crate) fn check_keys(&mut self, map: &Node, keys: &[&str]) {
        for (key, _) in map.as_map().unwrap_or_default() {
            let key_text = key.as_scalar().map(ToString::to_string).unwrap_or_default();
            if key.as_str().is_some_and(|key| keys.contains(&key)) {
                continue;
            }
            let help = match closest_name(&key_text, keys.iter().copied()) {
                Some(best) => format!("did you mean `{best}`?"),
                None => format!("expected one of {}", keys.join(", ")),
            };
            let message = format!("unknown key `{key_text}`");
            self.push(
                Diagnostic::error(codes::UNKNOWN_KEY, message).in_file(self.file).at(key.span).help(help),
            );
        }
    }
}

/// Returns the span for a problem with a whole mapping: its first key, because underlining the full mapping
/// is not readable.
pub(crate) fn head(node: &Node) -> Span {
    match &node.kind {
        NodeKind::Map(entries) => entries.first().map_or(node.span, |(key, _)| key.span),
        NodeKind::Seq(items) => {
            items.first().map_or(node.span, |item| Span { end: item.span.start, ..node.span })
        }
        NodeKind::Scalar(_) => node.span,
    }
}
