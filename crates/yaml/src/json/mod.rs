//! Parses JSON into the same tree as YAML, so that schema readers handle one type of node.
//!
//! Strict RFC 8259: one value, no comments, no trailing commas, no `NaN`, no unescaped control characters in
//! strings. If the RFC leaves a choice, the stricter option is taken, because parsers that choose differently
//! disagree about the meaning of a text:
//!
//! * a duplicate key is an error;
//! * an unpaired surrogate is an error;
//! * a number out of range for a float is an error, not an infinity.
//!
//! A byte order mark at the start is skipped. Integers are exact, as in YAML. An invalid key, string or
//! number is one problem, and parsing continues; a syntax error ends parsing, because there is no reliable
//! way to resynchronize. Nesting does not use the call stack.

mod cursor;
mod number;
mod reader;
mod syntax;
mod text;

#[cfg(test)]
mod tests;

use crate::limits::LoadLimits;
use crate::loader::Loaded;
use crate::node::Document;

use reader::Reader;
use stoker_diagnostics::{Diagnostic, Diagnostics, Span};

/// Stable codes of JSON problems.
pub mod codes {
    /// The text is not valid JSON.
    pub const SYNTAX: &str = "json-syntax";
    /// A string or number that is valid JSON but cannot be represented.
    pub const VALUE: &str = "json-value";
    /// A key occurs twice in an object.
    pub const DUPLICATE_KEY: &str = "json-duplicate-key";
    /// The text exceeds the size, number of nodes or nesting depth allowed by [`crate::LoadLimits`].
    pub const LIMIT: &str = "json-limit";
}

/// Parses a text that consists of one JSON value. Returns one document, or none and at least one error.
///
/// The document is returned if the syntax is valid, so that other errors do not hide schema errors in it;
/// check [`Loaded::has_errors`] before using it.
pub fn load(text: &str, limits: &LoadLimits) -> Loaded {
    // Offsets are 32-bit.
    let size_bytes_max = limits.size_bytes_max.min(u32::MAX as usize / 2);
    if text.len() > size_bytes_max {
        let message = format!("input is too large: {} bytes, the limit is {size_bytes_max}", text.len());
        let problem = Diagnostic::error(codes::LIMIT, message).at(Span::default()).help("split the input");
        return Loaded { problems: vec![problem], ..Loaded::default() };
    }
    let mut problems = Diagnostics::bounded(limits.problems_max);
    let root = Reader::new(text, limits, &mut problems).run();
    let documents = root.into_iter().map(|root| Document { root }).collect();
    let (problems, n_problems_dropped) = problems.into_parts();
    Loaded { documents, problems, n_problems_dropped }
}
