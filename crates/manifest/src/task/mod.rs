//! A task: what its fields may be, how it is read, and how it is written back.
//!
//! Any field but `id` may be computed, and so may items of lists and fields of relations: `{yaql_exp: text}`, exactly
//! that one key. Expressions are compiled wherever they stand, except under a key `regex`, whose text is taken as it
//! is. A field this module does not know is the user's own and kept as it was written.

mod fields;
mod read;
mod relation;
mod render;
mod strategy;

#[cfg(test)]
mod tests;

pub use render::{VERSION_DEFAULT, alias_of, render};

pub(crate) use read::Tasks;
