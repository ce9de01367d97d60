//! From what a user wrote to checked domain types: every problem at once, each with its place.
//!
//! [`parse()`] turns text into nodes. The [`reader`] module reads shapes from nodes; it is what every request body goes
//! through. [`graph`] and [`task`] know what a graph and its tasks may look like.
//!
//! The crate judges one text by itself. It opens no file, draws no message, and knows nothing of other layers,
//! nodes or roles: whether a name leads anywhere is not asked here.

mod expression;
mod judged;
mod parse;
mod problem;
mod write;

pub mod reader;

pub mod graph;
pub mod task;

pub use judged::Judged;
pub use parse::{Format, Options, Parsed, parse, parse_with};
pub use problem::{Problem, Problems, Severity, codes, from_loader, summary};
pub use write::to_yaml;
