//! Documents computed from records, and expressions over them.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]

mod expressions;
mod primaries;
mod records;
mod settle;
mod supplied;
