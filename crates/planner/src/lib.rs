//! Plans with reasons: which task instances run, on which nodes, in which order, and why.
//!
//! [`plan()`] turns a [`PlanningInput`] (a merged graph, the desired state, and for each task and node the
//! state with which it last succeeded) into a [`Plan`] and a [`PlanningReport`]. A plan is an immutable value: every
//! expression in it is already evaluated. [`Explainer`] explains one instance, [`Reasons`] explains all of
//! them; plan and reasons together are an [`ExplainedPlan`], which has a binary encoding ([`encode`],
//! [`decode`]).
//!
//! The crate is pure: it reads only its input and performs no I/O. It has no notion of a graph's owner or of
//! a database.
//!
//! # Performance
//!
//! * Each distinct expression is compiled once. Its dependencies are found by static analysis, and nodes that
//!   agree on them share one evaluation (`compute/`).
//! * Arguments of `changed` and the other state functions that read only the common document are evaluated
//!   once and cached across conditions (`yaql_ext/result_cache.rs`).
//! * A relation between two sets of instances goes through a junction vertex, so the number of edges grows
//!   with the sum of both sizes and not with their product (`order_builder.rs`).
//! * Documents are shared, and an evaluation gets only the top-level keys that it reads (`state.rs`,
//!   `compute/subjects.rs`).
//!
//! # Where to begin
//!
//! `planning.rs` runs all phases in one function. To add a function for expressions, add a file to
//! `yaql_ext/` and a line to its list. To add a reason, add a [`Verdict`].

mod yaql_ext;

mod evaluate;
mod settings;
mod split;

mod compute;

mod input;
mod legacy;
mod report;

mod definition;
mod differing;
mod fields;
mod group_conditions;
mod handlers;
mod json;
mod names;
mod node_sets;
mod nodes;
mod order;
mod order_builder;
mod placement;
mod relations;
mod selection;
mod steady;
mod strategy;
mod template;
pub mod timing;
mod tolerance;
mod verdicts;

mod near_misses;
mod plan;
mod planning;
mod reasons;

mod check;
mod compare;
mod digests;
mod drawing;
mod estimate;
mod extras;
mod fingerprint;
mod helpers;
mod input_changes;
mod rendered_changes;
mod serialized;
mod stored;

pub use check::{check, check_placeholders};
pub use compare::{ChangeKind, Comparison, EdgeChanges, GroupChange, PlanChange, PlannedAction, compare};
pub use definition::{compares_inputs, default_condition};
pub use digests::{InputDigests, input_digests};
pub use drawing::{InstanceFilter, UnknownNames, draw_plan};
pub use estimate::{DEFAULT_DURATION_MS, DurationLookup, Estimate, estimate, remaining};
pub use evaluate::{evaluate, evaluate_observed};
pub use extras::{ChangedInstances, DoubtView, InputChange, PlanExtras, decode_extras, encode_extras};
pub use fingerprint::{inputs_digest, inputs_document, inputs_of, source_digests};
pub use input::{
    EvaluationSettings, FileDigests, InputsKey, NodeInput, PlanScope, PlanningInput, SettledDocuments,
    StateAfterRun, Subgraph,
};
pub use input_changes::{OldInputs, input_changes};
pub use nodes::NODE_OFFLINE;
pub use plan::{
    Details, DetailsIdx, FaultToleranceGroup, Instance, InstanceAction, NodeChoice, Plan, PlannedTask,
    Verdict,
};
pub use planning::plan;
pub use reasons::{Difference, Explainer, Explanation, Reasons};
pub use rendered_changes::rendered_changes;
pub use report::{ExcludedNode, PlanningReport, codes};
pub use selection::resolve_reference;
pub use serialized::FuelSerialization;
pub use settings::options;
pub use split::{SplitDocuments, split_common};
pub use stored::{DecodeError, ExplainedPlan, decode, encode};
pub use tolerance::parse_fault_tolerance;
pub use yaql_ext::library;
