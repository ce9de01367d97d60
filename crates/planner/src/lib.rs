//! Plans with reasons: what will run, where, in which order, and why.
//!
//! [`plan()`] turns a [`PlanningInput`] (a merged graph, the new state, and for each task and node the state with which it
//! last succeeded) into a [`Plan`] and a [`Report`]. A plan is a value: it never changes, and nothing in it is left to
//! be computed. [`Explainer`] tells of each instance why it runs or is skipped, [`Reasons`] of all of them; together
//! they are an [`ExplainedPlan`], which is stored as bytes ([`encode`], [`decode`]).
//!
//! The crate reads nothing but its input and writes nothing. It knows no owner of a graph and no database.
//!
//! # How it stays fast
//!
//! * Each distinct expression is compiled once. What its result can depend on is found without evaluating it, and nodes
//!   that do not differ in that share one evaluation (`compute/`).
//! * Arguments of `changed` and its kin that read only what all nodes have in common are evaluated once, in whichever
//!   conditions they stand (`yaql_ext/memory.rs`).
//! * Relations between sets of instances meet in a vertex of their own, so that edges grow with the sum of both sides
//!   (`wiring.rs`).
//! * Documents are shared, and evaluations get only those parts that they read (`state.rs`, `compute/subjects.rs`).
//!
//! # Where to begin
//!
//! `planning.rs` is the whole way in one function. A new function for expressions is a file in `yaql_ext/` and a line in
//! its list. A new reason is a [`Verdict`].

pub mod state;
mod yaql_ext;

mod evaluate;
mod settings;
mod split;

mod compute;

mod input;
mod legacy;
mod problem;

mod definition;
mod fields;
mod json;
mod names;
mod nodes;
mod order;
mod placement;
mod places;
mod relations;
mod selection;
mod strategy;
mod template;
pub mod timing;
mod tolerance;
mod verdicts;
mod wiring;

mod plan;
mod planning;
mod reasons;

mod check;
mod compare;
mod digests;
mod drawing;
mod estimate;
mod helpers;
mod serialized;
mod stored;

pub use check::{Finding, check, check_placeholders};
pub use compare::{Change, Comparison, EdgeChanges, GroupChange, Step, What, compare};
pub use digests::{InputDigests, input_digests};
pub use drawing::{InstanceFilter, draw};
pub use estimate::{Estimate, KnownDurations, UNKNOWN_MS, estimate, remaining};
pub use evaluate::{evaluate, evaluate_observed};
pub use input::{NodeInput, PlanningInput, Request, Settings, Subgraph};
pub use nodes::NOT_ONLINE;
pub use plan::{Action, Choice, Details, FaultToleranceGroup, Instance, Plan, PlannedTask, Verdict};
pub use planning::plan;
pub use problem::{Excluded, Origin, Problem, Report, Severity, codes};
pub use reasons::{Difference, Explainer, Explanation, Reasons, is_secret};
pub use selection::referred;
pub use serialized::Serialized;
pub use settings::options;
pub use split::{Split, split};
pub use stored::{DecodeError, ExplainedPlan, decode, encode};
pub use tolerance::tolerated_nodes;
pub use yaql_ext::library;
