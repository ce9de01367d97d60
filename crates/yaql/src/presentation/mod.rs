//! Human-readable presentation: the function catalog, explanations of an evaluation, and short forms of
//! values and errors. For user interfaces; programs use the protocol and the values instead.

mod catalog;
mod error_message;
mod explain;
mod summary;
mod text;
mod trace;

use crate::Value;
use crate::json::{self, WriteOptions};

pub use catalog::{Entry, completion_names, entries, find, suggest_title, title};
pub use error_message::describe_error;
pub use explain::{ExplainNode, explain_tree};
pub use summary::summarize;
pub use text::{collapse_whitespace, first_sentence, truncate_line};
pub use trace::{NodeTrace, Trace};

/// Serializes a value as single-line JSON for listings and errors.
pub fn to_json_line(value: &Value) -> String {
    let options = WriteOptions { ascii: false, ..WriteOptions::default() };
    json::write(value, &options).unwrap_or_else(|error| format!("<{}>", error.message))
}
