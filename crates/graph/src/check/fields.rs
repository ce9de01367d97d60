//! Checks of a single task: its name and its type.

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, TaskType};
use stoker_yaql::eval::suggest::closest_name;

use crate::codes;
use crate::merge::MergedTask;
use crate::pattern::NamePattern;

pub(super) fn check(task: &MergedTask<'_>, findings: &mut Vec<Diagnostic>) {
    findings.extend(name_finding(task.name).map(|finding| finding.task(task.name, "id")));
    findings.extend(type_finding(task.value("type")).map(|finding| finding.task(task.name, "type")));
}

fn name_finding(name: &str) -> Option<Diagnostic> {
    if NamePattern::is_regex(name) {
        let message = "a name between slashes is read as a pattern, so no relation can refer to this task";
        return Some(Diagnostic::error(codes::TASK_NAME, message));
    }
    if name.is_empty() || name.chars().count() > 255 {
        return Some(Diagnostic::error(codes::TASK_NAME, "a task name must have 1 to 255 characters"));
    }
    let is_blank_or_control = |letter: char| letter.is_whitespace() || letter.is_control();
    name.contains(is_blank_or_control)
        .then(|| Diagnostic::warning(codes::TASK_NAME, "the name contains whitespace or control characters"))
}

fn type_finding(value: Option<&Json>) -> Option<Diagnostic> {
    let Some(value) = value else {
        return Some(Diagnostic::error(codes::TASK_TYPE, "the task has no type in any layer"));
    };
    if value.get("yaql_exp").is_some() {
        return None;
    }
    let name = value.as_str().unwrap_or_default();
    match TaskType::parse(name) {
        Some(TaskType::Role) => Some(Diagnostic::warning(
            codes::TASK_TYPE,
            "type `role` is supported for legacy data only and is never executed",
        )),
        Some(_) => None,
        None => {
            let help = closest_name(name, TaskType::NAMES.iter().copied())
                .map(|best| format!("did you mean `{best}`?"));
            Some(Diagnostic::error(codes::TASK_TYPE, format!("unknown task type `{name}`")).help_if(help))
        }
    }
}
