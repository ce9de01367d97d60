//! Problems as data. Rendering them is left to the caller.

use std::fmt;

use crate::position::Span;

/// Stable codes of YAML problems.
pub mod codes {
    /// The text is not valid YAML.
    pub const SYNTAX: &str = "yaml-syntax";
    /// A character that YAML does not allow.
    pub const CONTROL_CHARACTER: &str = "yaml-control-character";
    /// An unknown tag, or a tag on the wrong kind of node.
    pub const TAG: &str = "yaml-tag";
    /// A scalar that does not match its tag or form.
    pub const VALUE: &str = "yaml-value";
    /// A node that cannot be a key.
    pub const KEY: &str = "yaml-key";
    /// A key occurs twice in a mapping (a warning).
    pub const DUPLICATE_KEY: &str = "yaml-duplicate-key";
    /// A `<<` whose value is not a mapping or a list of mappings.
    pub const MERGE: &str = "yaml-merge";
    /// An undefined or recursive alias, or an anchor defined twice.
    pub const ALIAS: &str = "yaml-alias";
    /// The text exceeds the size, number of nodes or nesting depth allowed by [`crate::Limits`].
    pub const LIMIT: &str = "yaml-limit";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The loaded value is incomplete or invalid.
    Error,
    /// The text is valid but probably not what its author intended.
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// Diagnostic code, one of [`codes`].
    pub code: &'static str,
    /// Lowercase sentence fragment without a trailing period.
    pub message: String,
    pub span: Span,
    /// Suggested fix.
    pub help: Option<String>,
    /// A related location and its label.
    pub related: Option<(Span, &'static str)>,
}

impl Problem {
    pub(crate) fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), span, help: None, related: None }
    }

    pub(crate) fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn related(mut self, span: Span, label: &'static str) -> Self {
        self.related = Some((span, label));
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.span.start, self.message)
    }
}

/// Collects problems up to a limit per severity, so that many warnings do not displace errors.
pub(crate) struct Problems {
    retained: Vec<Problem>,
    n_retained: [usize; 2],
    n_dropped: usize,
    max: usize,
}

impl Problems {
    pub(crate) fn new(max: usize) -> Self {
        // At least one, because an error that is not retained would look like success.
        Self { retained: Vec::new(), n_retained: [0; 2], n_dropped: 0, max: max.max(1) }
    }

    pub(crate) fn push(&mut self, problem: Problem) {
        let n_retained = &mut self.n_retained[problem.severity as usize];
        if *n_retained < self.max {
            *n_retained += 1;
            self.retained.push(problem);
        } else {
            self.n_dropped += 1;
        }
    }

    /// Reports whether further errors would only be counted.
    pub(crate) fn is_full_of_errors(&self) -> bool {
        self.n_retained[Severity::Error as usize] >= self.max
    }

    /// Returns the problems in source order and the number of dropped ones.
    pub(crate) fn finish(mut self) -> (Vec<Problem>, usize) {
        self.retained.sort_by_key(|problem| problem.span.start.offset);
        (self.retained, self.n_dropped)
    }
}

/// Quotes user text for a message: in backticks, truncated, on one line.
pub(crate) fn quoted(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let mut excerpt: String = text
        .chars()
        .take(CHARS_MAX)
        .flat_map(|c| match c {
            '\n' | '\r' | '\t' => c.escape_default().collect::<Vec<_>>(),
            c if c.is_control() => c.escape_default().collect(),
            c => vec![c],
        })
        .collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        excerpt.push('…');
    }
    format!("`{excerpt}`")
}
