//! The language as people meet it: what can be called, what the parts of an expression were, values and errors in
//! words. Programs need none of it.

mod catalog;
mod shape;
mod short;
mod text;
mod trace;
mod words;

use crate::Value;
use crate::json::{self, WriteOptions};

pub use catalog::{Entry, entries, find, names, suggestion, title};
pub use shape::{Part, parts};
pub use short::short;
pub use text::{first_sentence, one_line, shortened};
pub use trace::{Seen, Trace};
pub use words::in_words;

/// Compact JSON for listings and errors.
pub fn to_json_line(value: &Value) -> String {
    let options = WriteOptions { ascii: false, ..WriteOptions::default() };
    json::write(value, &options).unwrap_or_else(|error| format!("<{}>", error.message))
}
