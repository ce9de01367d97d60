//! Checks of a single task: its name and its type.

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, TaskType};
use stoker_yaql::eval::suggest::closest_name;

use super::Scope;
use crate::codes;
use crate::layer::Source;
use crate::merge::{MergedGraph, MergedTask};
use crate::pattern::NamePattern;

pub(super) fn check(
    task: &MergedTask<'_>,
    scope: Scope,
    sources: &[Source],
    names: &[&str],
    findings: &mut Vec<Diagnostic>,
) {
    findings.extend(name_finding(task.name).map(|finding| finding.task(task.name, "id")));
    let finding = match task.value("type") {
        Some(value) => type_finding(value),
        None => Some(untyped_finding(task, scope, sources, names)),
    };
    findings.extend(finding.map(|finding| finding.task(task.name, "type")));
}

/// Reports the tasks of a merged graph that have no type. Such a graph cannot be planned.
pub(super) fn untyped_tasks(merged: &MergedGraph<'_>) -> Vec<Diagnostic> {
    let untyped = merged.tasks.iter().filter(|task| task.value("type").is_none());
    let names: Vec<&str> = merged.tasks.iter().map(|task| task.name).collect();
    let finding = |task: &MergedTask<'_>| {
        untyped_finding(task, Scope::Merged, &merged.sources, &names).task(task.name, "type")
    };
    untyped.map(finding).collect()
}

fn untyped_finding(task: &MergedTask<'_>, scope: Scope, sources: &[Source], names: &[&str]) -> Diagnostic {
    let layers: Vec<&Source> = task.defined_by().map(|layer_idx| &sources[layer_idx as usize]).collect();
    if scope == Scope::Layer {
        return match layers[..] {
            [Source::Release] => {
                let message = "`type` is missing, and no layer is below the release that could set it";
                Diagnostic::error(codes::TASK_TYPE, message)
            }
            _ => Diagnostic::warning(
                codes::TASK_TYPE,
                "`type` is missing, so a lower layer must define the task",
            ),
        };
    }
    let names = names.iter().copied().filter(|name| *name != task.name);
    let similar = closest_name(task.name, names).map(|best| format!("did you mean task `{best}`?"));
    let names: Vec<String> = layers.iter().map(ToString::to_string).collect();
    let message = match (layers.len(), task.replaces()) {
        (2.., true) => {
            let last = names.last().map(String::as_str).unwrap_or_default();
            format!("`type` is missing in {last}, which replaces the whole task (merge mode `replace`)")
        }
        _ => format!("`type` is missing in every layer that defines the task: {}", names.join(", ")),
    };
    let help = similar.unwrap_or_else(|| {
        "set `type`; it may be omitted only where a lower layer defines the task".to_owned()
    });
    Diagnostic::error(codes::TASK_TYPE, message).help(help)
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

fn type_finding(value: &Json) -> Option<Diagnostic> {
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
