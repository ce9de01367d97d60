//! Syntax errors and evaluation errors of conditions.

use std::fmt;
use std::ops::Range;

/// Stable names of errors.
pub mod codes {
    /// Invalid syntax.
    pub const SYNTAX: &str = "condition-syntax";
    /// The condition is too long or nested too deeply.
    pub const LIMIT: &str = "condition-limit";
    /// An unknown model.
    pub const UNKNOWN_MODEL: &str = "condition-unknown-model";
    /// A missing key, in a strict dialect.
    pub const MISSING_KEY: &str = "condition-missing-key";
    /// A value of the wrong type for an operation.
    pub const TYPE: &str = "condition-kind";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// Error code, one of [`codes`].
    pub code: &'static str,
    /// Byte range in the condition. If a token is missing, the range is empty and marks its position.
    pub span: Range<usize>,
    /// Lowercase fragment without a trailing period.
    pub message: String,
    /// Hint for the author.
    pub help: Option<String>,
}

impl ConditionError {
    pub(crate) fn new(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into(), help: None }
    }

    pub(crate) fn syntax(span: Range<usize>, message: impl Into<String>) -> Self {
        Self::new(codes::SYNTAX, span, message)
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Reports whether the text itself is invalid, independent of the data.
    pub fn is_syntax(&self) -> bool {
        matches!(self.code, codes::SYNTAX | codes::LIMIT)
    }
}

/// `the message (the help)`, without the location: it is meaningful only together with the text.
impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

impl std::error::Error for ConditionError {}
