//! Validation of user-written documents into domain types; reports all problems at once, each with its
//! location.
//!
//! [`parse()`] turns text into nodes. The [`reader`] module reads typed values from nodes; every request body
//! goes through it. [`graph`] and [`task`] define the form of graphs and tasks.
//!
//! The crate validates one text in isolation. It reads no files, renders no messages, and has no access to
//! other layers, nodes or roles: the existence of referenced names is checked elsewhere.

mod expression;
mod parse;
mod validated;
mod write;

pub mod reader;

pub mod graph;
pub mod task;

pub use parse::{Format, ParseOptions, Parsed, parse, parse_with};
pub use validated::Validated;
pub use write::to_yaml;

/// Stable names of problems. Those of the syntax are in [`stoker_yaml::codes`] and
/// [`stoker_yaml::json::codes`].
pub mod codes {
    /// An empty text.
    pub const EMPTY: &str = "manifest-empty";
    /// More than one document.
    pub const DOCUMENTS: &str = "manifest-documents";
    /// A value of the wrong type, such as text where a list is expected.
    pub const TYPE: &str = "manifest-kind";
    /// A required key is missing.
    pub const MISSING: &str = "manifest-missing-key";
    /// An unknown key.
    pub const UNKNOWN_KEY: &str = "manifest-unknown-key";
    /// A key that is not a string.
    pub const KEY: &str = "manifest-key";
    /// Text or a list that is too long or too short.
    pub const LENGTH: &str = "manifest-length";
    /// A number out of range, or one that JSON cannot represent.
    pub const RANGE: &str = "manifest-range";
    /// A word that is not one of the allowed words.
    pub const CHOICE: &str = "manifest-choice";
    /// A string of the wrong form.
    pub const FORM: &str = "manifest-form";
    /// Two spellings of one field with different values.
    pub const CONFLICT: &str = "manifest-conflict";
    pub const READ_ONLY: &str = "manifest-read-only";
    /// Two tasks with the same id.
    pub const DUPLICATE_TASK: &str = "manifest-duplicate-task";
    /// An expression that does not parse or has the wrong form.
    pub const EXPRESSION: &str = "manifest-expression";
    /// A bare word in an expression that is a constant in other languages but a string in YAQL.
    pub const BARE_WORD: &str = "manifest-bare-word";

    pub use stoker_diagnostics::codes::TOO_MANY;
}
