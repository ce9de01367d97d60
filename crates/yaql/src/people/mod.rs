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

pub use catalog::{Entry, entries, find, names, suggestion, title};
pub use error_message::in_words;
pub use explain::{Part, parts};
pub use summary::short;
pub use text::{first_sentence, one_line, shortened};
pub use trace::{Seen, Trace};

/// Serializes a value as single-line JSON for listings and errors.
pub fn to_json_line(value: &Value) -> String {
    let options = WriteOptions { ascii: false, ..WriteOptions::default() };
    json::write(value, &options).unwrap_or_else(|error| format!("<{}>", error.message))
}
