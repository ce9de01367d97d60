//! YAQL, a query language over JSON-like data, compatible with the Python implementation.
//!
//! This crate owns the parser, the evaluator, the standard library and the value model. "The reference" in
//! its documentation is the Python package `yaql`: results, error classes and most error messages match it.
//! The crate does no I/O; the clock, random numbers and interruption come from a [`Host`].

pub mod error;
pub mod eval;
pub mod json;
pub mod library;
pub mod lint;
pub mod moment;
pub mod presentation;
pub mod protocol;
pub mod pyregex;
pub mod pytext;
pub mod stdlib;
pub mod syntax;
pub mod value;

pub use error::{Error, ErrorClass, Result, Span};
pub use eval::{Ctx, Cx, Engine, Evaluation, Expression, FixedHost, Host, Input, Limits, Options};
pub use library::{Function, Library};
pub use value::Value;
