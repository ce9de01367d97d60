//! Parameters as written, by task type.

use stoker_diagnostics::Diagnostic;
use stoker_model::Json;

use super::{ParameterCheck, Scope};
use crate::codes;
use crate::merge::MergedTask;

pub(super) fn check(
    task: &MergedTask<'_>,
    scope: Scope,
    check: ParameterCheck,
    findings: &mut Vec<Diagnostic>,
) {
    let Some(task_type) = task.value("type").and_then(Json::as_str) else { return };
    let parameters = task.value("parameters");
    // Another layer may set the parameters.
    if parameters.is_none() && scope == Scope::Layer {
        return;
    }
    for problem in check(task_type, parameters.unwrap_or(&Json::Null)) {
        let path = match problem.location.path.as_str() {
            "" => "parameters".to_owned(),
            path => format!("parameters.{path}"),
        };
        let finding = Diagnostic::error(codes::PARAMETER, problem.message).severity(problem.severity);
        findings.push(finding.help_if(problem.help).task(task.name, path));
    }
}
