//! What is wrong with a text, as data; drawing it is somebody else's job.

use std::fmt;

use crate::position::Span;

/// Stable names of problems.
pub mod codes {
    /// Text that is no YAML.
    pub const SYNTAX: &str = "yaml-syntax";
    /// A character YAML does not allow anywhere.
    pub const CONTROL_CHARACTER: &str = "yaml-control-character";
    /// A tag without a meaning here, or on the wrong kind of node.
    pub const TAG: &str = "yaml-tag";
    /// A scalar that is not what its tag or its form promises.
    pub const VALUE: &str = "yaml-value";
    /// A key that cannot be one.
    pub const KEY: &str = "yaml-key";
    /// The same key twice in one mapping (a warning).
    pub const DUPLICATE_KEY: &str = "yaml-duplicate-key";
    /// A `<<` without a mapping.
    pub const MERGE: &str = "yaml-merge";
    /// An alias to nothing or to a node around it, or one anchor twice.
    pub const ALIAS: &str = "yaml-alias";
    /// More bytes, nodes or nesting than [`crate::Limits`] allow.
    pub const LIMIT: &str = "yaml-limit";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The text does not say what it seems to say.
    Error,
    /// The text has a meaning, but probably not the intended one.
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// One of [`codes`].
    pub code: &'static str,
    /// A lowercase fragment without a full stop.
    pub message: String,
    pub span: Span,
    /// What the author can do.
    pub help: Option<String>,
    /// Another place that explains this one, and what it is.
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

/// Collects problems up to a bound of each severity, so that a flood of warnings hides no error.
pub(crate) struct Problems {
    kept: Vec<Problem>,
    n_kept: [usize; 2],
    n_dropped: usize,
    max: usize,
}

impl Problems {
    pub(crate) fn new(max: usize) -> Self {
        // An error that leaves no trace would be taken for success.
        Self { kept: Vec::new(), n_kept: [0; 2], n_dropped: 0, max: max.max(1) }
    }

    pub(crate) fn push(&mut self, problem: Problem) {
        let n_kept = &mut self.n_kept[problem.severity as usize];
        if *n_kept < self.max {
            *n_kept += 1;
            self.kept.push(problem);
        } else {
            self.n_dropped += 1;
        }
    }

    /// Whether further errors would only be counted.
    pub(crate) fn is_full_of_errors(&self) -> bool {
        self.n_kept[Severity::Error as usize] >= self.max
    }

    /// In the order of the text.
    pub(crate) fn finish(mut self) -> (Vec<Problem>, usize) {
        self.kept.sort_by_key(|problem| problem.span.start.offset);
        (self.kept, self.n_dropped)
    }
}

/// User text for a message: short, on one line, in backticks.
pub(crate) fn quoted(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let mut shown: String = text
        .chars()
        .take(CHARS_MAX)
        .flat_map(|c| match c {
            '\n' | '\r' | '\t' => c.escape_default().collect::<Vec<_>>(),
            c if c.is_control() => c.escape_default().collect(),
            c => vec![c],
        })
        .collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
