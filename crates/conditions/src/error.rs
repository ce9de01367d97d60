//! What is wrong with a condition, in its text or on the data.

use std::fmt;
use std::ops::Range;

/// Stable names of errors.
pub mod codes {
    /// A text that is no condition.
    pub const SYNTAX: &str = "condition-syntax";
    /// Longer or deeper than anybody writes.
    pub const LIMIT: &str = "condition-limit";
    /// A model that is not there.
    pub const UNKNOWN_MODEL: &str = "condition-unknown-model";
    /// A key that is not there, where that matters.
    pub const MISSING_KEY: &str = "condition-missing-key";
    /// A value of a kind that cannot be used so.
    pub const KIND: &str = "condition-kind";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// One of [`codes`].
    pub code: &'static str,
    /// Bytes of the condition; empty, at its end, when something is missing there.
    pub span: Range<usize>,
    /// A lowercase fragment without a full stop.
    pub message: String,
    /// What the author can do.
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

    /// Whether the text itself is wrong, whatever the data.
    pub fn is_syntax(&self) -> bool {
        matches!(self.code, codes::SYNTAX | codes::LIMIT)
    }
}

/// `the message (the help)`; the place is for those who have the text.
impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

impl std::error::Error for ConditionError {}

/// A user's text for a message: short, on one line, in backticks.
pub(crate) fn quoted(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let mut shown = String::from("`");
    for letter in text.chars().take(CHARS_MAX) {
        if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    let is_cut = text.chars().nth(CHARS_MAX).is_some();
    shown.push_str(if is_cut { "…`" } else { "`" });
    shown
}
