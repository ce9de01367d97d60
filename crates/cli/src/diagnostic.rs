//! A problem as data: what, where, and what to do.

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
    /// A stable name, such as the class of an error of the language.
    pub(crate) code: Option<String>,
    /// A lowercase fragment.
    pub(crate) message: String,
    pub(crate) place: Option<Place>,
    pub(crate) notes: Vec<String>,
    pub(crate) help: Option<String>,
}

/// Where in which text.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The name of the file, or of what was typed.
    pub(crate) origin: String,
    pub(crate) text: Arc<str>,
    /// In bytes.
    pub(crate) span: Range<usize>,
    /// Another piece of the same text that explains this one.
    pub(crate) related: Option<(Range<usize>, String)>,
}

impl Diagnostic {
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code: None,
            message: message.into(),
            place: None,
            notes: Vec::new(),
            help: None,
        }
    }

    pub(crate) fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    pub(crate) fn help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

impl Place {
    pub(crate) fn new(origin: impl Into<String>, text: impl Into<Arc<str>>, span: Range<usize>) -> Self {
        Self { origin: origin.into(), text: text.into(), span, related: None }
    }
}
