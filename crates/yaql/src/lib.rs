//! YAQL, a small query language over JSON-like data.

pub mod error;

pub use error::{Error, ErrorClass, Span};
