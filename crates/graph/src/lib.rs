//! Task graphs: merging of layers with provenance, and static checks of the result.
//!
//! [`merge()`] merges layers and records for every attribute which layer set it and which layers were
//! overridden. [`check()`] reports defects: dangling names, cycles, unknown roles and tags. [`Csr`] is the
//! underlying directed graph.
//!
//! The crate works on definitions only and has no nodes: the planner decides where a task runs and whether
//! its condition is true. `check` therefore states for each cycle under which conditions it occurs.

mod csr;
mod layer;
mod merge;
mod metadata;
mod pattern;
mod plugin;
pub mod state_functions;
mod subgraph;

mod check;

pub use check::{GraphCheckOptions, ParameterCheck, Scope, check, constant_comparisons, untyped_tasks};
pub use csr::Csr;
pub use layer::{Layer, Source};
pub use merge::{LayerList, MergeRules, MergedField, MergedGraph, MergedTask, merge};
pub use metadata::{MergedMetadata, Provenance};
pub use pattern::{InvalidPattern, NamePattern};
pub use plugin::{add_folder, is_with_defaults, plugin_tasks, runs_in_folder};
pub use subgraph::part;

/// Stable names of problems.
pub mod codes {
    /// Two plugins set one attribute of a task to different values.
    pub const PLUGIN_CONFLICT: &str = "graph-plugin-conflict";
    /// A plugin whose stage tasks cannot be placed.
    pub const PLUGIN_STAGE: &str = "graph-plugin-stage";
    /// A task with a missing or unknown type.
    pub const TASK_TYPE: &str = "graph-task-type";
    /// A field that has no effect on its task.
    pub const IGNORED_FIELD: &str = "graph-ignored-field";
    /// A field that is accepted for documents of Fuel and never executed.
    pub const NOT_EXECUTED: &str = "graph-not-executed";
    /// A task whose name cannot be referred to.
    pub const TASK_NAME: &str = "graph-task-name";
    /// A reference that matches no task.
    pub const DANGLING: &str = "graph-dangling-name";
    /// A group that lists a missing task.
    pub const GROUP_MEMBER: &str = "graph-group-member";
    /// A pattern that does not compile.
    pub const PATTERN: &str = "graph-pattern";
    /// An expression that does not parse.
    pub const EXPRESSION: &str = "graph-expression";
    /// A call of an unknown function.
    pub const UNKNOWN_FUNCTION: &str = "graph-unknown-function";
    /// A bare word that is a constant in other languages but a string in YAQL.
    pub const BARE_WORD: &str = "graph-bare-word";
    /// `changed()` with an argument that is not a path of the state.
    pub const NOT_STATE: &str = "graph-not-state";
    /// A condition that is never true on a first run.
    pub const NEVER_FIRST: &str = "graph-never-first";
    /// Parameters that read paths which the condition does not observe.
    pub const UNOBSERVED_INPUT: &str = "graph-unobserved-input";
    /// A parameter that its task type does not accept.
    pub const PARAMETER: &str = "graph-parameter";
    /// A role or tag that no node can have.
    pub const UNKNOWN_ROLE: &str = "graph-unknown-place";
    /// A layer that replaces the placement of another layer under another field name.
    pub const REPLACED_PLACEMENT: &str = "graph-replaced-placement";
    /// A task that runs nowhere.
    pub const UNPLACED: &str = "graph-unplaced-task";
    /// A dependency of a stage without effect.
    pub const STAGE: &str = "graph-stage-dependency";
    /// A graph too large to be checked completely.
    pub const TOO_LARGE: &str = "graph-too-large";
    /// A dependency cycle.
    pub const CYCLE: &str = "graph-cycle";

    /// Findings that a plan reports with its own codes.
    pub const IN_PLANS: &[&str] =
        &[CYCLE, DANGLING, EXPRESSION, GROUP_MEMBER, PARAMETER, PATTERN, TASK_TYPE, UNPLACED];
}
