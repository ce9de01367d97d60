//! JSON into the same tree that YAML becomes, so that whoever reads shapes reads one kind of node.
//!
//! Strict RFC 8259: one value, no comments, no trailing commas, no `NaN`, no control characters in text. Where the
//! RFC leaves a choice, the stricter one is taken, because two readers that choose differently are how a text comes
//! to mean two things:
//!
//! * a key given twice is an error;
//! * half of a surrogate pair is an error;
//! * a number too large for a float is an error, not an infinity.
//!
//! A byte order mark at the very beginning is skipped. Integers are exact, as on the YAML side. A mistake in a key,
//! a text or a number costs one problem and reading goes on; a mistake in the syntax ends it, for what follows could
//! only be guessed at. Nesting costs no stack.

mod cursor;
mod number;
mod reader;
mod syntax;
mod text;

#[cfg(test)]
mod tests;

use crate::limits::Limits;
use crate::loader::Loaded;
use crate::node::Document;
use crate::position::Span;
use crate::problem::{Problem, Problems};

use reader::Reader;

/// Stable names of problems of JSON.
pub mod codes {
    /// Text that is no JSON.
    pub const SYNTAX: &str = "json-syntax";
    /// Text or a number that JSON can write but no value can hold.
    pub const VALUE: &str = "json-value";
    /// The same key twice in one object.
    pub const DUPLICATE_KEY: &str = "json-duplicate-key";
    /// More bytes, nodes or nesting than [`crate::Limits`] allow.
    pub const LIMIT: &str = "json-limit";
}

/// Reads a text that is one JSON value: one document, or none and at least one error.
///
/// The document is there as soon as the syntax is right, so that one error does not hide those of the shapes
/// in it; ask [`Loaded::has_errors`] before trusting it.
pub fn load(text: &str, limits: &Limits) -> Loaded {
    // Places are counted in 32 bits.
    let size_bytes_max = limits.size_bytes_max.min(u32::MAX as usize / 2);
    if text.len() > size_bytes_max {
        let message = format!("the text has {} bytes, {size_bytes_max} are allowed", text.len());
        let problem = Problem::error(codes::LIMIT, Span::default(), message).help("split the text");
        return Loaded { problems: vec![problem], ..Loaded::default() };
    }
    let mut problems = Problems::new(limits.problems_max);
    let root = Reader::new(text, limits, &mut problems).run();
    let documents = root.into_iter().map(|root| Document { root }).collect();
    let (problems, n_problems_dropped) = problems.finish();
    Loaded { documents, problems, n_problems_dropped }
}
