//! Parsing of one entry of a helper file. Collects all problems.

use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_yaml::{Node, Scalar, Span};
use stoker_yaql::Value;
use stoker_yaql::json::{self, WriteOptions};

use crate::codes;
use crate::parameter::{Parameter, read_parameters};
use crate::reader::{Reader, head};
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
    /// Whether the definition has no errors so far.
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

    /// Parses one entry. Returns `None` without a usable name or body, because further checks need both.
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
}

impl Example {
    /// Returns expression and result for the reference page; `None` for an example with data of its own.
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
