//! Problems found while planning, with their location.

use std::fmt;

use serde::{Deserialize, Serialize};
use stoker_yaql::{Error, ErrorClass, Span};

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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No plan is created.
    Error,
    /// The plan is created but may not be what the user intended.
    Warning,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub severity: Severity,
    /// Diagnostic code, one of [`mod@codes`].
    pub code: &'static str,
    pub task: Option<String>,
    /// Path inside the task, such as `cross_depends[0].role`; empty: the task as a whole.
    pub field: String,
    /// Nodes it occurs on, in order; empty if it does not depend on nodes.
    pub nodes: Vec<String>,
    /// Lowercase fragment without a trailing period.
    pub message: String,
    /// The expression and the span of the offending part.
    pub place: Option<(String, Span)>,
    pub help: Option<String>,
    /// Source of the task; filled in by the caller that stores the graph.
    pub origin: Option<ProblemOrigin>,
}

/// The layer that set the field, and its position in the uploaded file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemOrigin {
    /// `release`, `cluster`, or `plugin NAME VERSION`.
    pub layer: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl Problem {
    pub(crate) fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity,
            code,
            task: None,
            field: String::new(),
            nodes: Vec::new(),
            message: message.into(),
            place: None,
            help: None,
            origin: None,
        }
    }

    pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A failed evaluation or compilation of an expression.
    pub(crate) fn of_expression(code: &'static str, error: &Error, source: &str) -> Self {
        let text = error.source.as_deref().unwrap_or(source);
        Self {
            place: error.span.map(|span| (text.to_owned(), span)),
            help: error.help.clone(),
            ..Self::error(code, message_of(error))
        }
    }

    pub(crate) fn at(mut self, task: &str, field: impl Into<String>) -> Self {
        self.task = Some(task.to_owned());
        self.field = field.into();
        self
    }

    pub(crate) fn on(mut self, nodes: Vec<String>) -> Self {
        self.nodes = nodes;
        self
    }

    pub(crate) fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }
}

/// The message of an error. For key errors the language gives only the key.
fn message_of(error: &Error) -> String {
    match error.class {
        ErrorClass::Key => format!("there is no key {}", error.message),
        _ => error.message.clone(),
    }
}

/// Nodes listed by uid; the others are only counted.
const NODES_LISTED: usize = 3;

/// ``task `a`, condition, on nodes 1, 2 and 7 more: the message (the help)``.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(task) = &self.task {
            write!(f, "task `{task}`")?;
            if !self.field.is_empty() {
                write!(f, ", {}", self.field)?;
            }
            match self.nodes.len() {
                0 => {}
                n_nodes => {
                    let listed = self.nodes[..n_nodes.min(NODES_LISTED)].join(", ");
                    write!(f, ", on {} {listed}", if n_nodes == 1 { "node" } else { "nodes" })?;
                    if n_nodes > NODES_LISTED {
                        write!(f, " and {} more", n_nodes - NODES_LISTED)?;
                    }
                }
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)?;
        if let Some((text, span)) = &self.place {
            let part = text.get(span.start as usize..span.end as usize).unwrap_or_default();
            let part: String = part.split_whitespace().collect::<Vec<_>>().join(" ");
            write!(f, " in `{part}`")?;
        }
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// Result of planning besides the plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanningReport {
    /// Errors first, then sorted by task and field.
    pub problems: Vec<Problem>,
    /// Excluded nodes, with the reason.
    pub excluded: Vec<ExcludedNode>,
    /// Number of evaluations performed; less than fields times nodes because classes share them.
    pub n_evaluations: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedNode {
    pub uid: String,
    #[serde(rename = "why")]
    pub reason: String,
}

impl PlanningReport {
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    pub fn warnings(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Warning)
    }

    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error)
    }

    pub(crate) fn push(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(crate) fn sort(&mut self) {
        self.problems.sort_by(|a, b| {
            let key = |problem: &Problem| (problem.severity, problem.task.is_none());
            key(a).cmp(&key(b)).then_with(|| a.task.cmp(&b.task)).then_with(|| a.field.cmp(&b.field))
        });
    }
}
