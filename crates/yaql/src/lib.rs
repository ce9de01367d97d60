//! YAQL, a query language over JSON-like data, compatible with the Python implementation.
//!
//! This crate owns the parser, the evaluator, the standard library and the value model. "Python YAQL"
//! is the Python package `yaql`, the reference implementation: results, error classes and most error messages match it.
//! The crate does no I/O; the clock, random numbers and interruption come from a [`Host`].

pub mod error;
pub mod json;
mod language;
pub mod lint;
pub mod moment;
pub mod presentation;
pub mod protocol;
pub mod pyregex;
pub mod pytext;
pub mod stdlib;

pub use language::{eval, library, syntax, value};

pub use error::{Error, ErrorClass, Result, Span};
pub use eval::{Ctx, Cx, Engine, Evaluation, Expression, FixedHost, Host, Input, Limits, Options};
pub use library::{Function, Library};
pub use value::Value;
