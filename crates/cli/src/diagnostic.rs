//! Diagnostics: severity, stable code, message, source location and hint of one problem.

use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Error,
    Warning,
}

#[derive(Clone, Debug)]
pub(crate) struct Diagnostic {
    pub(crate) severity: Severity,
    /// Stable identifier, such as the class of a YAQL error.
    pub(crate) code: Option<String>,
    /// Lowercase fragment without a trailing period.
    pub(crate) message: String,
    pub(crate) location: Option<SourceLocation>,
    pub(crate) notes: Vec<String>,
    pub(crate) help: Option<String>,
}

/// A byte range in a source text.
#[derive(Clone, Debug)]
pub(crate) struct SourceLocation {
    /// File name, or the name of the argument that the text came from.
    pub(crate) origin: String,
    pub(crate) text: Arc<str>,
    /// Byte range in `text`.
    pub(crate) span: Range<usize>,
    /// Another range of the same text that explains this one, with its label.
    pub(crate) related: Option<(Range<usize>, String)>,
}

impl Diagnostic {
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code: None,
            message: message.into(),
            location: None,
            notes: Vec::new(),
            help: None,
        }
    }

    pub(crate) fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    pub(crate) fn at(mut self, location: SourceLocation) -> Self {
        self.location = Some(location);
        self
    }

    pub(crate) fn help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

impl SourceLocation {
    pub(crate) fn new(origin: impl Into<String>, text: impl Into<Arc<str>>, span: Range<usize>) -> Self {
        Self { origin: origin.into(), text: text.into(), span, related: None }
    }
}
