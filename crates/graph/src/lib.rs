//! Task graphs: merging of layers with provenance, and static checks of the result.
//!
//! [`merge()`] merges layers and records for every attribute which layer set it and which layers were
//! overridden. [`check()`] reports defects: dangling names, cycles, unknown roles and tags. [`Csr`] is the
//! underlying directed graph.
//!
//! The crate works on definitions only. It knows no nodes: the planner decides where a task runs and whether
//! its condition is true, so `check` states for each cycle under which conditions it occurs.

mod csr;
mod finding;
mod layer;
mod merge;
mod metadata;
mod pattern;
mod plugin;
mod subgraph;

mod check;

pub use check::{GraphCheckOptions, Scope, check};
pub use csr::Csr;
pub use finding::{Finding, Severity, codes};
pub use layer::{Layer, Source};
pub use merge::{LayerList, MergeRules, MergedField, MergedGraph, MergedTask, merge};
pub use metadata::{MergedMetadata, Provenance};
pub use pattern::NamePattern;
pub use plugin::plugin_tasks;
pub use subgraph::part;
