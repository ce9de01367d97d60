//! Problems of a plan as they are shown.

use stoker_planner::{Problem, Severity as Judgement};

use super::graph::Graph;
use crate::diagnostic::{Diagnostic, Severity};

pub(super) fn diagnostic(problem: &Problem, graph: &Graph) -> Diagnostic {
    let severity = match problem.severity {
        Judgement::Error => Severity::Error,
        Judgement::Warning => Severity::Warning,
    };
    let help = problem.help.clone();
    let without_help = Problem { help: None, ..problem.clone() };
    let place = problem.task.as_ref().and_then(|task| graph.place(task, &problem.field));
    Diagnostic { severity, place, ..Diagnostic::error(without_help.to_string()) }
        .code(problem.code)
        .help(help)
}
