//! What is wrong, or may be, with everything that tells where.

use std::fmt;

use serde::{Deserialize, Serialize};
use stoker_yaql::{Error, ErrorClass, Span};

/// Names each code once: as a constant, and in the list that stored plans are read with.
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
    /// There is no plan.
    Error,
    /// There is one, but perhaps not the one that was meant.
    Warning,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub severity: Severity,
    /// One of [`mod@codes`].
    pub code: &'static str,
    pub task: Option<String>,
    /// Where in the task, as in `cross_depends[0].role`.
    pub field: String,
    /// Nodes it was found on, in order; none if it has nothing to do with nodes.
    pub nodes: Vec<String>,
    /// A lowercase fragment.
    pub message: String,
    /// The expression and the piece of it that is meant.
    pub place: Option<(String, Span)>,
    pub help: Option<String>,
    /// Who wrote it, and where; known to whoever keeps the graph.
    pub origin: Option<Origin>,
}

/// The layer that a field was set by, and its place in the file that was uploaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
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

    /// An expression that has no value.
    pub(crate) fn of_expression(code: &'static str, error: &Error, source: &str) -> Self {
        let text = error.source.as_deref().unwrap_or(source);
        Self {
            place: error.span.map(|span| (text.to_owned(), span)),
            help: error.help.clone(),
            ..Self::error(code, told(error))
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

/// The message of an error. Of a key that is not there the language says the key alone.
fn told(error: &Error) -> String {
    match error.class {
        ErrorClass::Key => format!("there is no key {}", error.message),
        _ => error.message.clone(),
    }
}

/// More nodes than these are counted.
const NODES_SHOWN: usize = 3;

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
                    let shown = self.nodes[..n_nodes.min(NODES_SHOWN)].join(", ");
                    write!(f, ", on {} {shown}", if n_nodes == 1 { "node" } else { "nodes" })?;
                    if n_nodes > NODES_SHOWN {
                        write!(f, " and {} more", n_nodes - NODES_SHOWN)?;
                    }
                }
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)?;
        if let Some((text, span)) = &self.place {
            let piece = text.get(span.start as usize..span.end as usize).unwrap_or_default();
            let piece: String = piece.split_whitespace().collect::<Vec<_>>().join(" ");
            write!(f, " in `{piece}`")?;
        }
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// What came to light while planning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Errors first, each in the order of tasks.
    pub problems: Vec<Problem>,
    /// Nodes that take no part, and why.
    pub excluded: Vec<Excluded>,
    /// How often an expression was really evaluated.
    pub n_evaluations: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    pub uid: String,
    pub why: String,
}

impl Report {
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
