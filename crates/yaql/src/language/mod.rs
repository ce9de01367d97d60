//! The language itself: syntax trees, values, functions and their evaluation.
//!
//! These four are one module because their types are mutually recursive: a value can be a closure, which
//! contains a syntax tree and a context; a tree contains constant values; a context contains functions, and a
//! function takes an evaluation and returns a value. Data and the standard library build on them and are
//! separate.

pub mod eval;
pub mod library;
pub mod syntax;
pub mod value;
