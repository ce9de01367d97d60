//! A problem that a rule reports.

use crate::terminal::{Style, paint};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    Error,
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Problem {
    pub(super) path: String,
    /// Line number, counted from 1; 0 for the file as a whole.
    pub(super) line: usize,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) help: String,
}

impl Problem {
    pub(super) fn error(
        path: impl Into<String>,
        line: usize,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            line,
            severity: Severity::Error,
            message: message.into(),
            help: help.into(),
        }
    }

    pub(super) fn warning(
        path: impl Into<String>,
        line: usize,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, line, message, help) }
    }

    pub(super) fn render(&self, rule: &str) -> String {
        let location =
            if self.line == 0 { self.path.clone() } else { format!("{}:{}", self.path, self.line) };
        let severity = match self.severity {
            Severity::Error => paint(Style::Bad, "error"),
            Severity::Warning => paint(Style::Notice, "warning"),
        };
        format!("{location}: {severity}[{rule}]: {}\n    help: {}", self.message, self.help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_is_rendered_with_location_rule_and_fix() {
        let problem = Problem::error("a.rs", 3, "`x` is bad", "write `y`");
        assert_eq!(problem.render("rule"), "a.rs:3: error[rule]: `x` is bad\n    help: write `y`");
        let problem = Problem::warning("a.rs", 0, "long", "split it");
        assert_eq!(problem.render("length"), "a.rs: warning[length]: long\n    help: split it");
    }
}
