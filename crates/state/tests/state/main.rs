//! Documents from records, and what expressions see in them.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]

mod expressions;
mod primaries;
mod records;
mod supplied;
