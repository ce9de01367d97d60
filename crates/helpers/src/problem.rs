//! What is wrong with helper files, as data; drawing it is somebody else's job.

use stoker_yaml::Span;

/// Stable names of problems. Those of YAML itself are in [`stoker_yaml::codes`].
pub mod codes {
    /// Something of the wrong kind: text where a list is expected.
    pub const SHAPE: &str = "helper-shape";
    /// A key that no helper file knows.
    pub const UNKNOWN_KEY: &str = "helper-unknown-key";
    /// A key that has to be there.
    pub const MISSING_KEY: &str = "helper-missing-key";
    /// A name that cannot be one.
    pub const NAME: &str = "helper-name";
    /// One name twice.
    pub const DUPLICATE: &str = "helper-duplicate";
    /// A name that the library has.
    pub const OVERRIDE: &str = "helper-override";
    /// A parameter that makes no sense.
    pub const PARAMETER: &str = "helper-parameter";
    /// A body that is no expression.
    pub const BODY: &str = "helper-body";
    /// A call of something that does not exist.
    pub const UNKNOWN_FUNCTION: &str = "helper-unknown-function";
    /// A variable that nothing binds, or a parameter that nothing reads (a warning).
    pub const VARIABLE: &str = "helper-variable";
    /// An example that is not true.
    pub const EXAMPLE: &str = "helper-example";
}

pub use stoker_yaml::Severity;

/// One problem of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The name under which the file was given.
    pub file: String,
    pub span: Span,
    pub severity: Severity,
    /// One of [`codes`], or of those of YAML.
    pub code: &'static str,
    /// A lowercase fragment without a full stop.
    pub message: String,
    /// What the author can do.
    pub help: Option<String>,
    /// Another place that explains this one.
    pub related: Option<Related>,
}

/// A second place, possibly in another file.
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

/// The problems of a YAML text are problems of the file that holds it.
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
