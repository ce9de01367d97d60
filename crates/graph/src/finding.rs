//! Findings about a graph, as data without rendering.

use std::fmt;

use crate::layer::Source;

/// Stable names of findings.
pub mod codes {
    /// Two plugins set one attribute of a task to different values.
    pub const PLUGIN_CONFLICT: &str = "graph-plugin-conflict";
    /// A plugin whose stage tasks cannot be placed.
    pub const PLUGIN_STAGE: &str = "graph-plugin-stage";
    /// A task with a missing or unknown type.
    pub const TASK_TYPE: &str = "graph-task-type";
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
    /// A role or tag that no node can have.
    pub const UNKNOWN_ROLE: &str = "graph-unknown-place";
    /// A task that runs nowhere.
    pub const UNPLACED: &str = "graph-unplaced-task";
    /// A dependency of a stage without effect.
    pub const STAGE: &str = "graph-stage-dependency";
    /// A graph too large to be checked completely.
    pub const TOO_LARGE: &str = "graph-too-large";
    /// A dependency cycle.
    pub const CYCLE: &str = "graph-cycle";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The graph cannot be run as it is.
    Error,
    /// The graph can be run, but probably not as intended.
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    /// Diagnostic code, one of [`codes`].
    pub code: &'static str,
    /// The task it is about; `None` if it is about several.
    pub task: Option<String>,
    /// Path inside the task, such as `requires[0]`; empty: the task as a whole.
    pub path: String,
    /// Lowercase fragment without a trailing period.
    pub message: String,
    /// Hint for the author.
    pub help: Option<String>,
    /// The layer that set the field.
    pub source: Option<Source>,
}

impl Finding {
    pub(crate) fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        let (task, path, help, source) = (None, String::new(), None, None);
        Self { severity, code, task, path, message: message.into(), help, source }
    }

    pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    pub(crate) fn at(mut self, task: &str, path: impl Into<String>) -> Self {
        self.task = Some(task.to_owned());
        self.path = path.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }

    /// The first field of the path.
    pub(crate) fn field(&self) -> &str {
        self.path.split(['.', '[']).next().unwrap_or_default()
    }
}

/// ``task `a`, requires[0]: the message (the help)``.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(task) = &self.task {
            write!(f, "task `{task}`")?;
            if !self.path.is_empty() {
                write!(f, ", {}", self.path)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}
