//! Validation of user-written documents into domain types; reports all problems at once, each with its
//! location.
//!
//! [`parse()`] turns text into nodes. The [`reader`] module reads typed values from nodes; every request body
//! goes through it. [`graph`] and [`task`] define the form of graphs and tasks.
//!
//! The crate validates one text in isolation. It reads no files, renders no messages, and knows no other
//! layers, nodes or roles: whether a referenced name exists is checked elsewhere.

mod expression;
mod parse;
mod problem;
mod validated;
mod write;

pub mod reader;

pub mod graph;
pub mod task;

pub use parse::{Format, ParseOptions, Parsed, parse, parse_with};
pub use problem::{Problem, Problems, Severity, codes, from_loader, summary};
pub use validated::Validated;
pub use write::to_yaml;
