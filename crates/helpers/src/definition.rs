//! One entry of a helper file: read key by key, every mistake noted.

use std::sync::Arc;

use stoker_yaml::{Node, NodeKind, Scalar, Span};
use stoker_yaql::Value;
use stoker_yaql::eval::suggest::closest;
use stoker_yaql::json::{self, WriteOptions};

use crate::data::value_of;
use crate::parameter::{Parameter, read_parameters};
use crate::problem::{Problem, codes};
use crate::words::{is_camel_case, name_help};

/// A helper as its author wrote it, as far as it could be understood.
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
    /// Whether nothing was wrong with it so far.
    pub(crate) is_sound: bool,
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
    pub(crate) wanted: Wanted,
}

#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Result(Value, Span),
    Error(String, Span),
}

/// Reads entries of one file.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a str,
    pub(crate) file_idx: usize,
    pub(crate) problems: Vec<Problem>,
}

const ENTRY_KEYS: &[&str] = &["name", "parameters", "style", "doc", "body", "examples", "override"];
const EXAMPLE_KEYS: &[&str] = &["expression", "data", "result", "error"];

impl Reader<'_> {
    /// All entries under `functions` of the root of a document.
    pub(crate) fn document(&mut self, root: &Node) -> Vec<Definition> {
        if !self.is_map(root, "a helper file is a mapping with the key `functions`") {
            return Vec::new();
        }
        self.check_keys(root, &["functions"]);
        let Some(functions) = self.required(root, "functions") else { return Vec::new() };
        let Some(entries) = functions.as_seq() else {
            self.shape(functions, "`functions` is a list");
            return Vec::new();
        };
        entries.iter().filter_map(|entry| self.entry(entry)).collect()
    }

    /// One entry; nothing if it has no usable name or body, for then there is nothing to check further.
    fn entry(&mut self, entry: &Node) -> Option<Definition> {
        if !self.is_map(entry, "a function is a mapping with `name` and `body`") {
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
            let message = format!("`{name}` is a method and has no parameter for its receiver");
            let help = "the first parameter takes what stands before the dot".to_owned();
            self.push(Problem::error(self.file, *name_span, codes::PARAMETER, message).help(help));
        }
        // A function with a wrong example can still be called.
        let is_sound = self.n_errors() == n_errors;
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
            is_sound,
        })
    }

    fn name(&mut self, node: &Node) -> Option<(Arc<str>, Span)> {
        let text = self.text(node, "`name`")?;
        if !is_camel_case(&text) {
            let message = format!("`{text}` is no name of a function");
            self.push(Problem::error(self.file, node.span, codes::NAME, message).help(name_help(&text)));
            return None;
        }
        Some((text.into(), node.span))
    }

    fn style(&mut self, node: &Node) -> Style {
        const STYLES: [(&str, Style); 3] =
            [("function", Style::Function), ("method", Style::Method), ("both", Style::Both)];
        let given = node.as_str().unwrap_or_default();
        if let Some((_, style)) = STYLES.iter().find(|(name, _)| *name == given) {
            return *style;
        }
        let problem =
            Problem::error(self.file, node.span, codes::SHAPE, "`style` says how a function is called");
        self.push(problem.help("write `function`, `method` or `both`".to_owned()));
        Style::Function
    }

    /// The place of a flag that is on.
    fn flag(&mut self, node: &Node, key: &str) -> Option<Span> {
        if let Some(Scalar::Bool(flag)) = node.as_scalar() {
            return flag.then_some(node.span);
        }
        self.shape(node, &format!("`{key}` is true or false"));
        None
    }

    fn examples(&mut self, node: &Node) -> Vec<Example> {
        let Some(entries) = node.as_seq() else {
            self.shape(node, "`examples` is a list");
            return Vec::new();
        };
        entries.iter().filter_map(|entry| self.example(entry)).collect()
    }

    fn example(&mut self, entry: &Node) -> Option<Example> {
        if !self.is_map(entry, "an example is a mapping with `expression` and `result`") {
            return None;
        }
        self.check_keys(entry, EXAMPLE_KEYS);
        let expression = self.required(entry, "expression");
        let expression = expression.and_then(|node| self.text(node, "`expression`").map(|_| node.clone()));
        let data = entry.get("data").and_then(|node| self.value(node)).unwrap_or_default();
        let wanted = match (entry.get("result"), entry.get("error")) {
            (Some(result), None) => self.value(result).map(|value| Wanted::Result(value, result.span)),
            (None, Some(error)) => self.text(error, "`error`").map(|class| Wanted::Error(class, error.span)),
            (given, _) => {
                let message = match given {
                    Some(_) => "an example has a `result` or an `error`, not both",
                    None => "an example needs a `result` or an `error`",
                };
                self.push(Problem::error(self.file, head(entry), codes::MISSING_KEY, message));
                None
            }
        };
        Some(Example { expression: expression?, data, wanted: wanted? })
    }

    pub(crate) fn value(&mut self, node: &Node) -> Option<Value> {
        match value_of(node) {
            Ok(value) => Some(value),
            Err(error) => {
                self.push(Problem::error(self.file, error.span, codes::SHAPE, error.message));
                None
            }
        }
    }

    pub(crate) fn push(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn n_errors(&self) -> usize {
        self.problems.iter().filter(|problem| problem.severity == crate::Severity::Error).count()
    }

    pub(crate) fn shape(&mut self, node: &Node, wanted: &str) {
        let message = format!("{wanted}, this is {}", node.kind_name());
        self.push(Problem::error(self.file, head(node), codes::SHAPE, message));
    }

    fn is_map(&mut self, node: &Node, wanted: &str) -> bool {
        let is_map = node.as_map().is_some();
        if !is_map {
            self.shape(node, wanted);
        }
        is_map
    }

    /// Text. What YAML takes for a number or a date is sent back, for its text may have been another.
    pub(crate) fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        match &node.kind {
            NodeKind::Scalar(Scalar::Str(text)) if !text.trim().is_empty() => Some(text.to_string()),
            NodeKind::Scalar(Scalar::Str(_) | Scalar::Null) => {
                self.push(Problem::error(self.file, node.span, codes::SHAPE, format!("{what} is empty")));
                None
            }
            _ => {
                let message = format!("{what} is text, this is {}", node.kind_name());
                let help = matches!(node.kind, NodeKind::Scalar(_)).then(|| "put it into quotes".to_owned());
                self.push(Problem::error(self.file, head(node), codes::SHAPE, message).help(help));
                None
            }
        }
    }

    fn required<'n>(&mut self, map: &'n Node, key: &str) -> Option<&'n Node> {
        let found = map.get(key);
        if found.is_none() {
            let message = format!("`{key}` is missing");
            self.push(Problem::error(self.file, head(map), codes::MISSING_KEY, message));
        }
        found
    }

    pub(crate) fn check_keys(&mut self, map: &Node, known: &[&str]) {
        for (key, _) in map.as_map().unwrap_or_default() {
            let shown = key.as_scalar().map(ToString::to_string).unwrap_or_default();
            if key.as_str().is_some_and(|key| known.contains(&key)) {
                continue;
            }
            let help = match closest(&shown, known.iter().copied()) {
                Some(best) => format!("did you mean `{best}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            let message = format!("unknown key `{shown}`");
            self.push(Problem::error(self.file, key.span, codes::UNKNOWN_KEY, message).help(help));
        }
    }
}

/// A place for a remark about a whole mapping: its first key, for carets under a page of text help nobody.
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
    /// Expression and result as a reference page shows them; an example with data of its own is left out.
    pub(crate) fn in_documentation(&self) -> Option<(String, String)> {
        if !self.data.is_null() {
            return None;
        }
        let wanted = match &self.wanted {
            Wanted::Result(value, _) => {
                json::write(value, &WriteOptions { ascii: false, ..WriteOptions::default() }).ok()?
            }
            Wanted::Error(class, _) => class.clone(),
        };
        Some((self.expression.as_str()?.trim_end().to_owned(), wanted))
    }
}
