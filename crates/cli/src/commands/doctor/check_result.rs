//! Result of a check.

use std::fmt;

use serde_json::{Value as Json, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Ok,
    /// Works now, but is likely to fail later.
    Warning,
    /// Does not work.
    Problem,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckResult {
    pub(super) level: Level,
    /// Name of the check.
    pub(super) check: &'static str,
    /// Observation and its consequence.
    pub(super) message: String,
    /// Suggested fix for the problem.
    pub(super) help: Option<String>,
}

impl CheckResult {
    pub(super) fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { level: Level::Ok, check, message: message.into(), help: None }
    }

    pub(super) fn warning(check: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { level: Level::Warning, check, message: message.into(), help: Some(help.into()) }
    }

    pub(super) fn problem(check: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { level: Level::Problem, check, message: message.into(), help: Some(help.into()) }
    }

    pub(super) fn to_json(&self) -> Json {
        json!({
            "check": self.check, "level": self.level.as_str(), "message": self.message, "help": self.help,
        })
    }
}

impl fmt::Display for CheckResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = match self.level {
            Level::Ok => anstyle::AnsiColor::Green,
            Level::Warning => anstyle::AnsiColor::Yellow,
            Level::Problem => anstyle::AnsiColor::Red,
        };
        let style = style.on_default();
        write!(f, "{style}{:<8}{style:#} {}: {}", self.level.as_str(), self.check, self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n         {help}"),
            None => Ok(()),
        }
    }
}
