//! The report of planning: diagnostics and excluded nodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stoker_diagnostics::{Diagnostic, has_errors, sort};
use stoker_model::Json;
use stoker_state::Taint;
use stoker_yaql::{Error, ErrorClass};

/// Declares each code once, as a constant and in the list that decoding of stored plans checks.
macro_rules! codes {
    ($($name:ident = $text:literal;)*) => {
        $(pub const $name: &str = $text;)*
        pub(crate) const ALL: &[&str] = &[$($name),*];
    };
}

/// Stable names of problems.
pub mod codes {
    codes! {
        EXPRESSION = "plan-expression";
        CONDITION = "plan-condition";
        FIELD = "plan-field";
        PARAMETERS = "plan-parameters";
        NODE_FILTER = "plan-node-filter";
        UNKNOWN_NAME = "plan-unknown-name";
        UNKNOWN_TASK = "plan-unknown-task";
        UNKNOWN_NODE = "plan-unknown-node";
        UNKNOWN_TYPE = "plan-unknown-type";
        UNPLACED = "plan-unplaced-task";
        PATTERN = "plan-pattern";
        GROUP_MEMBER = "plan-group-member";
        FAULT_TOLERANCE = "plan-fault-tolerance";
        STRATEGY = "plan-strategy";
        CYCLE = "plan-cycle";
        DUPLICATE = "plan-duplicate";
    }

    /// A role whose primary node is left out.
    pub const HIDDEN_BY_PRIMARY: &str = "plan-hidden-by-primary";
    /// A path in a condition that no state has, although a similar one exists.
    pub const NEAR_MISS: &str = "plan-near-miss";
    /// A handler on excluded nodes that tasks on other nodes do not trigger in this run.
    pub const UNTRIGGERED: &str = "plan-untriggered";
    /// Tasks that are skipped although the definition of their last success is unknown.
    pub const UNKNOWN_DEFINITION: &str = "plan-definition-unknown";
    /// Codes of notes. They are stored as warnings, because earlier versions know no other severity.
    pub(crate) const NOTES: &[&str] = &[UNKNOWN_DEFINITION];
    /// A node whose machine may have been replaced unnoticed. Found by the caller of the planner.
    pub const UNVERIFIED_MACHINE: &str = "plan-unverified-machine";
    /// Codes that are stored beside the plan: earlier versions refuse plans with unknown codes.
    pub(crate) const BESIDE_PLAN: &[&str] = &[HIDDEN_BY_PRIMARY, NEAR_MISS, UNTRIGGERED];
}

pub(crate) fn is_beside_plan(problem: &Diagnostic) -> bool {
    codes::BESIDE_PLAN.contains(&&*problem.code)
}

/// A failed evaluation or compilation of an expression.
pub(crate) fn expression_problem(code: &'static str, error: &Error, source: &str) -> Diagnostic {
    let problem = Diagnostic::error(code, message_of(error)).help_if(error.help.clone());
    match error.span {
        Some(span) => {
            let text = error.source.as_deref().unwrap_or(source);
            problem.expression(text, span.start as usize..span.end as usize)
        }
        None => problem,
    }
}

/// The message of an error. For key errors the language gives only the key.
fn message_of(error: &Error) -> String {
    match error.class {
        ErrorClass::Key => format!("there is no key {}", error.message),
        _ => error.message.clone(),
    }
}

/// Result of planning besides the plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanningReport {
    /// Errors first, then sorted by task and field.
    pub problems: Vec<Diagnostic>,
    /// Excluded nodes, with the reason.
    pub excluded: Vec<ExcludedNode>,
    /// Number of evaluations performed; less than fields times nodes because classes share them.
    pub n_evaluations: usize,
    /// See [`crate::PlanExtras::steady`].
    pub steady: BTreeMap<String, BTreeMap<u32, Json>>,
    /// Running instances whose applied state is tainted, sorted.
    pub tainted: Vec<(u32, Taint)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedNode {
    pub uid: String,
    #[serde(rename = "why")]
    pub reason: String,
}

impl PlanningReport {
    pub fn has_errors(&self) -> bool {
        has_errors(&self.problems)
    }

    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.problems.iter().filter(|problem| !problem.is_error())
    }

    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.problems.iter().filter(|problem| problem.is_error())
    }

    /// Warnings that are stored beside the plan; see [`crate::PlanExtras::warnings`].
    pub(crate) fn warnings_beside_plan(&self) -> impl Iterator<Item = &Diagnostic> {
        self.problems.iter().filter(|problem| is_beside_plan(problem))
    }

    pub(crate) fn push(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    pub(crate) fn sort(&mut self) {
        sort(&mut self.problems);
    }
}
