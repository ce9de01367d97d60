//! Problems in helper files as data. Rendering is up to the caller.

use stoker_yaml::Span;

/// Stable problem codes. Codes of YAML problems are in [`stoker_yaml::codes`].
pub mod codes {
    /// Value of the wrong type, for example text instead of a list.
    pub const SHAPE: &str = "helper-shape";
    /// Unknown key.
    pub const UNKNOWN_KEY: &str = "helper-unknown-key";
    /// Missing required key.
    pub const MISSING_KEY: &str = "helper-missing-key";
    /// Invalid function name.
    pub const NAME: &str = "helper-name";
    /// Function defined more than once.
    pub const DUPLICATE: &str = "helper-duplicate";
    /// Conflict with a library function, or invalid use of `override`.
    pub const OVERRIDE: &str = "helper-override";
    /// Invalid parameter.
    pub const PARAMETER: &str = "helper-parameter";
    /// Body that does not parse.
    pub const BODY: &str = "helper-body";
    /// Call of an unknown function.
    pub const UNKNOWN_FUNCTION: &str = "helper-unknown-function";
    /// Unbound variable or unused parameter (a warning).
    pub const VARIABLE: &str = "helper-variable";
    /// Example with an unexpected result.
    pub const EXAMPLE: &str = "helper-example";
}

pub use stoker_yaml::Severity;

/// Problem in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the file as passed to [`load`](crate::load).
    pub file: String,
    pub span: Span,
    pub severity: Severity,
    /// Diagnostic code, one of [`codes`], or a YAML problem code.
    pub code: &'static str,
    /// Lowercase, without a trailing period.
    pub message: String,
    /// Suggested fix.
    pub help: Option<String>,
    /// Second location that explains the problem.
    pub related: Option<Related>,
}

/// Second location, possibly in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub file: String,
    pub span: Span,
    pub label: &'static str,
}

impl Problem {
    pub(crate) fn error(file: &str, span: Span, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            span,
            severity: Severity::Error,
            code,
            message: message.into(),
            help: None,
            related: None,
        }
    }

    pub(crate) fn warning(file: &str, span: Span, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(file, span, code, message) }
    }

    pub(crate) fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }

    pub(crate) fn related(mut self, file: &str, span: Span, label: &'static str) -> Self {
        self.related = Some(Related { file: file.to_owned(), span, label });
        self
    }
}

pub(crate) fn from_yaml(file: &str, problem: stoker_yaml::Problem) -> Problem {
    let related = problem.related.map(|(span, label)| Related { file: file.to_owned(), span, label });
    Problem {
        file: file.to_owned(),
        span: problem.span,
        severity: problem.severity,
        code: problem.code,
        message: problem.message,
        help: problem.help,
        related,
    }
}
