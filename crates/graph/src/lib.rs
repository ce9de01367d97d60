//! Graphs of tasks: layers merged into one, with who set what, and what is wrong with the result.
//!
//! [`merge()`] lays layers over each other and remembers for every attribute which layer set it and which were
//! overridden. [`check()`] finds what a graph says and does not mean: names that lead nowhere, cycles, places that
//! do not exist. [`Csr`] is the directed graph underneath.
//!
//! The crate computes over definitions. It knows no nodes: where a task runs and whether its condition holds is the
//! planner's business, and so `check` says of each cycle what would make it one.

mod csr;
mod finding;
mod layer;
mod merge;
mod metadata;
mod part;
mod pattern;
mod plugin;
mod version;

mod check;

pub use check::{CheckOptions, Scope, check};
pub use csr::Csr;
pub use finding::{Finding, Severity, codes};
pub use layer::{Layer, Source};
pub use merge::{LayerList, MergeRules, Merged, MergedField, MergedTask, merge};
pub use metadata::{MergedMetadata, Origin};
pub use part::part;
pub use pattern::Pattern;
pub use plugin::plugin_tasks;
pub use version::compare_versions;
