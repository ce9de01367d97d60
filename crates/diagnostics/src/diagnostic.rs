//! A diagnostic and its text form.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::location::{Excerpt, Location, ProblemOrigin};
use crate::span::Span;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The input cannot be used.
    #[default]
    Error,
    /// The input can be used, but is probably not what its author intended.
    Warning,
    /// Part of the input has no effect, as is usual for documents written for other tools.
    Note,
}

impl Severity {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A problem in user input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Stable name of the class of problem, such as `graph-cycle`; empty if there is none.
    pub code: Cow<'static, str>,
    /// Machine-readable subclass, such as the type of a conflict between two components.
    pub kind: Option<&'static str>,
    /// Lowercase fragment without a trailing period.
    pub message: String,
    pub location: Location,
    pub notes: Vec<DiagnosticNote>,
    /// Suggested fix.
    pub help: Option<String>,
}

/// Additional information, possibly about a second location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagnosticNote {
    pub message: Cow<'static, str>,
    /// Name of the file that `span` refers to; `None` means the file of the diagnostic.
    pub file: Option<String>,
    pub span: Option<Span>,
}

impl From<Cow<'static, str>> for DiagnosticNote {
    fn from(message: Cow<'static, str>) -> Self {
        Self { message, file: None, span: None }
    }
}

impl From<String> for DiagnosticNote {
    fn from(message: String) -> Self {
        Cow::<'static, str>::from(message).into()
    }
}

impl Diagnostic {
    pub fn error(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), ..Self::default() }
    }

    pub fn warning(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Returns an error without a code, for messages that programs need not recognize.
    pub fn plain(message: impl Into<String>) -> Self {
        Self::error("", message)
    }

    #[must_use]
    pub fn severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    #[must_use]
    pub fn code(self, code: impl Into<Cow<'static, str>>) -> Self {
        Self { code: code.into(), ..self }
    }

    #[must_use]
    pub fn kind(self, kind: &'static str) -> Self {
        Self { kind: Some(kind), ..self }
    }

    #[must_use]
    pub fn at(mut self, span: impl Into<Option<Span>>) -> Self {
        self.location.span = span.into();
        self
    }

    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.location.file = Some(file.into());
        self
    }

    /// Sets the file and its text, for an excerpt.
    #[must_use]
    pub fn in_source(mut self, file: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        self.location.text = Some(text.into());
        self.in_file(file)
    }

    /// Sets the path in the document.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.location.path = path.into();
        self
    }

    /// Sets the task and the path inside it; an empty path means the task as a whole.
    #[must_use]
    pub fn task(mut self, task: &str, path: impl Into<String>) -> Self {
        self.location.task = Some(task.to_owned());
        self.location.path = path.into();
        self
    }

    #[must_use]
    pub fn nodes(mut self, nodes: Vec<String>) -> Self {
        self.location.nodes = nodes;
        self
    }

    #[must_use]
    pub fn plugin(mut self, plugin: &str) -> Self {
        self.location.plugin = Some(plugin.to_owned());
        self
    }

    #[must_use]
    pub fn provenance(mut self, provenance: Option<ProblemOrigin>) -> Self {
        self.location.provenance = provenance;
        self
    }

    /// Sets the expression that failed, and the byte range of the offending part.
    #[must_use]
    pub fn expression(mut self, text: &str, range: Range<usize>) -> Self {
        self.location.expression = Some(Excerpt { text: text.to_owned(), range });
        self
    }

    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        self.help_if(Some(help.into()))
    }

    #[must_use]
    pub fn help_if(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }

    /// Adds a note without a location.
    #[must_use]
    pub fn note(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.notes.push(DiagnosticNote::from(message.into()));
        self
    }

    /// Adds a second location in the same file that explains the problem.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<Cow<'static, str>>) -> Self {
        self.notes.push(DiagnosticNote { message: label.into(), file: None, span: Some(span) });
        self
    }

    /// Like [`Self::related`], in another file.
    #[must_use]
    pub fn related_in(mut self, file: &str, span: Span, label: impl Into<Cow<'static, str>>) -> Self {
        let file = Some(file.to_owned()).filter(|file| self.location.file.as_ref() != Some(file));
        self.notes.push(DiagnosticNote { message: label.into(), file, span: Some(span) });
        self
    }

    /// Sets the hint of a collected diagnostic.
    pub fn set_help(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Returns the message with its subject in the document, without file, line and help: ``task `a`,
    /// condition, on nodes 1, 2 and 7 more: the message in `$.x` ``.
    pub fn headline(&self) -> String {
        format!("{}{}{}", Subject(&self.location), self.message, Quote(&self.location))
    }

    /// Orders by file and position; where neither is known, errors first, then by task and path.
    fn order(&self, other: &Self) -> Ordering {
        let position = |location: &Location| location.span.map(|span| span.start.offset);
        let (a, b) = (&self.location, &other.location);
        a.file
            .cmp(&b.file)
            .then_with(|| position(a).cmp(&position(b)))
            .then_with(|| (self.severity, a.task.is_none()).cmp(&(other.severity, b.task.is_none())))
            .then_with(|| a.task.cmp(&b.task))
            .then_with(|| if a.task.is_some() { a.path.cmp(&b.path) } else { Ordering::Equal })
    }
}

/// Sorts by file and position; where neither is known, errors first, then by task and path. Equal diagnostics keep their
/// order.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(Diagnostic::order);
}

pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// Formats as `tasks.yaml:12:3: [1].stage: the message (the help)` with a file, otherwise as `tasks[3].type:
/// the message (line 12, column 9; the help)`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { file, span, .. } = &self.location;
        match (file, span) {
            (Some(file), Some(span)) => write!(f, "{file}:{}: ", span.start)?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, _) => {}
        }
        write!(f, "{}{}{}", Subject(&self.location), self.message, Quote(&self.location))?;
        let position = span
            .filter(|_| file.is_none())
            .map(|span| format!("line {}, column {}", span.start.line, span.start.column));
        match (position, &self.help) {
            (Some(position), Some(help)) => write!(f, " ({position}; {help})"),
            (Some(only), None) => write!(f, " ({only})"),
            (None, Some(only)) => write!(f, " ({only})"),
            (None, None) => Ok(()),
        }
    }
}

/// Maximum number of nodes listed by uid; further nodes are only counted.
const NODES_LISTED: usize = 3;

/// Task, path and nodes, followed by a colon.
struct Subject<'l>(&'l Location);

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { path, task, nodes, .. } = self.0;
        let Some(task) = task else {
            return if path.is_empty() { Ok(()) } else { write!(f, "{path}: ") };
        };
        write!(f, "task `{task}`")?;
        if !path.is_empty() {
            write!(f, ", {path}")?;
        }
        if !nodes.is_empty() {
            let listed = nodes[..nodes.len().min(NODES_LISTED)].join(", ");
            write!(f, ", on {} {listed}", if nodes.len() == 1 { "node" } else { "nodes" })?;
        }
        if nodes.len() > NODES_LISTED {
            write!(f, " and {} more", nodes.len() - NODES_LISTED)?;
        }
        f.write_str(": ")
    }
}

/// Displays the offending part of an expression.
struct Quote<'l>(&'l Location);

impl fmt::Display for Quote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.expression {
            Some(excerpt) => write!(f, " in `{}`", excerpt.part()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(offset: u32, line: u32, column: u32) -> Span {
        Span::at(crate::Position { offset, line, column })
    }

    #[test]
    fn text_contains_only_known_parts() {
        let message = Diagnostic::error("x-code", "must be text");
        assert_eq!(message.to_string(), "must be text");
        let placed = message.clone().path("tasks[3].type").at(span(99, 12, 9));
        assert_eq!(placed.to_string(), "tasks[3].type: must be text (line 12, column 9)");
        let helped = placed.clone().help("put it in quotes");
        assert_eq!(helped.to_string(), "tasks[3].type: must be text (line 12, column 9; put it in quotes)");
        assert_eq!(
            helped.in_file("tasks.yaml").to_string(),
            "tasks.yaml:12:9: tasks[3].type: must be text (put it in quotes)"
        );
        assert_eq!(
            message.help("put it in quotes").in_file("a").to_string(),
            "a: must be text (put it in quotes)"
        );
    }

    #[test]
    fn text_names_task_nodes_and_expression() {
        let nodes = |n_nodes: u32| (1..=n_nodes).map(|number| number.to_string()).collect::<Vec<_>>();
        let message = Diagnostic::error("plan-expression", "there is no key 'x'");
        let about = message.task("a", "condition").expression("$.y +\n  $.x", 2..11).help("add it");
        assert_eq!(about.to_string(), "task `a`, condition: there is no key 'x' in `y + $.x` (add it)");
        assert_eq!(about.headline(), "task `a`, condition: there is no key 'x' in `y + $.x`");
        let text = |n_nodes| about.clone().nodes(nodes(n_nodes)).headline();
        assert!(text(1).starts_with("task `a`, condition, on node 1: "), "{}", text(1));
        assert!(text(5).starts_with("task `a`, condition, on nodes 1, 2, 3 and 2 more: "), "{}", text(5));
    }

    #[test]
    fn invalid_ranges_of_expressions_are_harmless() {
        for range in [Range { start: 3, end: 2 }, 0..99, 1..2] {
            assert_eq!(Diagnostic::plain("m").expression("ä", range).to_string(), "m in ``");
        }
    }

    #[test]
    fn order_is_by_position_then_severity_then_task() {
        let at = |offset| Diagnostic::warning("", format!("at {offset}")).at(span(offset, 1, 1));
        let about = |task, path| Diagnostic::plain(format!("{task}.{path}")).task(task, path);
        let mut all = vec![
            Diagnostic::plain("in b").in_file("b"),
            about("b", ""),
            at(7),
            Diagnostic::warning("", "early").task("a", ""),
            about("a", "z"),
            about("a", "b"),
            Diagnostic::plain("general"),
            at(3),
            at(3).severity(Severity::Error).help("error"),
        ];
        sort(&mut all);
        let order: Vec<&str> = all.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert_eq!(order, ["a.b", "a.z", "b.", "general", "early", "at 3", "at 3", "at 7", "in b"]);
        assert!(all[5].is_error());
    }
}
