//! Converts planning problems to diagnostics.

use stoker_planner::{Problem, Severity as PlanSeverity};

use super::graph::Graph;
use crate::diagnostic::{Diagnostic, Severity};

pub(super) fn diagnostic(problem: &Problem, graph: &Graph) -> Diagnostic {
    let severity = match problem.severity {
        PlanSeverity::Error => Severity::Error,
        PlanSeverity::Warning => Severity::Warning,
    };
    let help = problem.help.clone();
    let without_help = Problem { help: None, ..problem.clone() };
    let location = problem.task.as_ref().and_then(|task| graph.locate(task, &problem.field));
    Diagnostic { severity, location, ..Diagnostic::error(without_help.to_string()) }
        .code(problem.code)
        .help(help)
}
