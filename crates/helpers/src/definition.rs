//! Parsing of one entry of a helper file. Collects all problems.

use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_yaml::{Node, NodeKind, Scalar, Span};
use stoker_yaql::Value;
use stoker_yaql::eval::suggest::closest_name;
use stoker_yaql::json::{self, WriteOptions};

use crate::codes;
use crate::data::yaql_value;
use crate::parameter::{Parameter, read_parameters};
use crate::words::{is_camel_case, name_help};

/// Parsed helper definition.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) file_idx: usize,
    pub(crate) name: Arc<str>,
    pub(crate) name_span: Span,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) style: Style,
    pub(crate) doc: String,
    pub(crate) body: Node,
    pub(crate) overrides: Option<Span>,
    pub(crate) examples: Vec<Example>,
    /// No error was found in it so far.
    pub(crate) is_valid: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Function,
    Method,
    Both,
}

#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) expression: Node,
    pub(crate) data: Value,
    pub(crate) expected: Expected,
}

#[derive(Clone, Debug)]
pub(crate) enum Expected {
    Result(Value, Span),
    Error(String, Span),
}

/// Parses the entries of one file.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a str,
    pub(crate) file_idx: usize,
    pub(crate) problems: Vec<Diagnostic>,
}

const ENTRY_KEYS: &[&str] = &["name", "parameters", "style", "doc", "body", "examples", "override"];
const EXAMPLE_KEYS: &[&str] = &["expression", "data", "result", "error"];

impl Reader<'_> {
    /// Parses all entries under `functions`.
    pub(crate) fn document(&mut self, root: &Node) -> Vec<Definition> {
        if !self.is_map(root, "a helper file must be a mapping with the key `functions`") {
            return Vec::new();
        }
        self.check_keys(root, &["functions"]);
        let Some(functions) = self.required(root, "functions") else { return Vec::new() };
        let Some(entries) = functions.as_seq() else {
            self.shape(functions, "`functions` must be a list");
            return Vec::new();
        };
        entries.iter().filter_map(|entry| self.entry(entry)).collect()
    }

    /// Parses one entry. `None` without a usable name or body, because further checks need both.
    fn entry(&mut self, entry: &Node) -> Option<Definition> {
        if !self.is_map(entry, "a function must be a mapping with `name` and `body`") {
            return None;
        }
        let n_errors = self.n_errors();
        self.check_keys(entry, ENTRY_KEYS);
        let name = self.required(entry, "name").and_then(|node| self.name(node));
        let body =
            self.required(entry, "body").and_then(|node| self.text(node, "`body`").map(|_| node.clone()));
        let parameters = entry.get("parameters").map(|node| read_parameters(self, node)).unwrap_or_default();
        let style = entry.get("style").map_or(Style::Function, |node| self.style(node));
        let doc = entry.get("doc").and_then(|node| self.text(node, "`doc`")).unwrap_or_default();
        let overrides = entry.get("override").and_then(|node| self.flag(node, "override"));
        if let (Some((name, name_span)), Style::Method | Style::Both, []) = (&name, style, &parameters[..]) {
            let message = format!("method `{name}` has no parameter for its receiver");
            let help = "the first parameter receives the value before the dot".to_owned();
            self.push(
                Diagnostic::error(codes::PARAMETER, message).in_file(self.file).at(*name_span).help(help),
            );
        }
        // Counted before the examples: a function with an invalid example can still be called.
        let is_valid = self.n_errors() == n_errors;
        let examples = entry.get("examples").map(|node| self.examples(node)).unwrap_or_default();
        let ((name, name_span), body) = (name?, body?);
        let file_idx = self.file_idx;
        let doc = doc.trim_end().to_owned();
        Some(Definition {
            file_idx,
            name,
            name_span,
            parameters,
            style,
            doc,
            body,
            overrides,
            examples,
            is_valid,
        })
    }

    fn name(&mut self, node: &Node) -> Option<(Arc<str>, Span)> {
        let text = self.text(node, "`name`")?;
        if !is_camel_case(&text) {
            let message = format!("`{text}` is not a valid function name");
            self.push(
                Diagnostic::error(codes::NAME, message)
                    .in_file(self.file)
                    .at(node.span)
                    .help(name_help(&text)),
            );
            return None;
        }
        Some((text.into(), node.span))
    }

    fn style(&mut self, node: &Node) -> Style {
        const STYLES: [(&str, Style); 3] =
            [("function", Style::Function), ("method", Style::Method), ("both", Style::Both)];
        let value = node.as_str().unwrap_or_default();
        if let Some((_, style)) = STYLES.iter().find(|(name, _)| *name == value) {
            return *style;
        }
        let problem = Diagnostic::error(codes::SHAPE, "unknown `style`").in_file(self.file).at(node.span);
        self.push(problem.help("use `function`, `method` or `both`"));
        Style::Function
    }

    /// Returns the span of a flag that is set.
    fn flag(&mut self, node: &Node, key: &str) -> Option<Span> {
        if let Some(Scalar::Bool(flag)) = node.as_scalar() {
            return flag.then_some(node.span);
        }
        self.shape(node, &format!("`{key}` must be true or false"));
        None
    }

    fn examples(&mut self, node: &Node) -> Vec<Example> {
        let Some(entries) = node.as_seq() else {
            self.shape(node, "`examples` must be a list");
            return Vec::new();
        };
        entries.iter().filter_map(|entry| self.example(entry)).collect()
    }

    fn example(&mut self, entry: &Node) -> Option<Example> {
        if !self.is_map(entry, "an example must be a mapping with `expression` and `result`") {
            return None;
        }
        self.check_keys(entry, EXAMPLE_KEYS);
        let expression = self.required(entry, "expression");
        let expression = expression.and_then(|node| self.text(node, "`expression`").map(|_| node.clone()));
        let data = entry.get("data").and_then(|node| self.value(node)).unwrap_or_default();
        let expected = match (entry.get("result"), entry.get("error")) {
            (Some(result), None) => self.value(result).map(|value| Expected::Result(value, result.span)),
            (None, Some(error)) => {
                self.text(error, "`error`").map(|class| Expected::Error(class, error.span))
            }
            (result, _) => {
                let message = match result {
                    Some(_) => "an example cannot have both `result` and `error`",
                    None => "an example must have `result` or `error`",
                };
                self.push(Diagnostic::error(codes::MISSING_KEY, message).in_file(self.file).at(head(entry)));
                None
            }
        };
        Some(Example { expression: expression?, data, expected: expected? })
    }

    pub(crate) fn value(&mut self, node: &Node) -> Option<Value> {
        match yaql_value(node) {
            Ok(value) => Some(value),
            Err(error) => {
                self.push(Diagnostic::error(codes::SHAPE, error.message).in_file(self.file).at(error.span));
                None
            }
        }
    }

    pub(crate) fn push(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    fn n_errors(&self) -> usize {
        self.problems.iter().filter(|problem| problem.is_error()).count()
    }

    pub(crate) fn shape(&mut self, node: &Node, requirement: &str) {
        let message = format!("{requirement}, got {}", node.kind_name());
        self.push(Diagnostic::error(codes::SHAPE, message).in_file(self.file).at(head(node)));
    }

    fn is_map(&mut self, node: &Node, requirement: &str) -> bool {
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

    fn required<'n>(&mut self, map: &'n Node, key: &str) -> Option<&'n Node> {
        let value = map.get(key);
        if value.is_none() {
            let message = format!("`{key}` is missing");
            self.push(Diagnostic::error(codes::MISSING_KEY, message).in_file(self.file).at(head(map)));
        }
        value
    }

    pub(crate) fn check_keys(&mut self, map: &Node, known: &[&str]) {
        for (key, _) in map.as_map().unwrap_or_default() {
            let key_text = key.as_scalar().map(ToString::to_string).unwrap_or_default();
            if key.as_str().is_some_and(|key| known.contains(&key)) {
                continue;
            }
            let help = match closest_name(&key_text, known.iter().copied()) {
                Some(best) => format!("did you mean `{best}`?"),
                None => format!("expected one of {}", known.join(", ")),
            };
            let message = format!("unknown key `{key_text}`");
            self.push(
                Diagnostic::error(codes::UNKNOWN_KEY, message).in_file(self.file).at(key.span).help(help),
            );
        }
    }
}

/// Span for a problem with a whole mapping: its first key, because underlining the full mapping is not
/// readable.
fn head(node: &Node) -> Span {
    match &node.kind {
        NodeKind::Map(entries) => entries.first().map_or(node.span, |(key, _)| key.span),
        NodeKind::Seq(items) => {
            items.first().map_or(node.span, |item| Span { end: item.span.start, ..node.span })
        }
        NodeKind::Scalar(_) => node.span,
    }
}

impl Example {
    /// Expression and result for the reference page. `None` for an example with its own data.
    pub(crate) fn in_documentation(&self) -> Option<(String, String)> {
        if !self.data.is_null() {
            return None;
        }
        let expected = match &self.expected {
            Expected::Result(value, _) => {
                json::write(value, &WriteOptions { ascii: false, ..WriteOptions::default() }).ok()?
            }
            Expected::Error(class, _) => class.clone(),
        };
        Some((self.expression.as_str()?.trim_end().to_owned(), expected))
    }
}
