//! Tasks: checks of their fields, reading and rendering.
//!
//! Any field except `id`, any list item and any field of a relation may be computed: a map with the single
//! key `yaql_exp`. Expressions are parsed everywhere except under the key `regex`, whose value is verbatim.
//! Unknown fields belong to the user and are stored as written.

mod fields;
mod read;
mod relation;
mod render;
mod strategy;

#[cfg(test)]
mod tests;

pub use render::{alias_of, render};

pub(crate) use read::Tasks;
