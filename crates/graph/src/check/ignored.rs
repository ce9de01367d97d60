//! Fields that have no effect on their task.

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, TaskType, compare_versions};

use super::Definition;
use crate::codes;
use crate::layer::Source;

/// First version of tasks that declare dependencies on tasks of other nodes.
const CROSS_VERSION: &str = "2.0.0";

pub(super) fn check(definition: &Definition<'_, '_>, sources: &[Source], findings: &mut Vec<Diagnostic>) {
    let task = definition.task;
    let mut report = |field: &str, message: String, help: String| {
        let finding = Diagnostic::warning(codes::IGNORED_FIELD, message).help(help);
        findings.push(finding.task(task.name, field));
    };
    if task.value("skipped") == Some(&Json::Bool(true)) {
        report("skipped", "`skipped` has no effect".to_owned(), "write `type: skipped` instead".to_owned());
    }
    let stage = task.field("stage").filter(|stage| !stage.value.is_null());
    if stage.is_some_and(|stage| !sources[stage.set_by as usize].is_plugin()) {
        let message = "`stage` has no effect outside of plugins".to_owned();
        let help = "depend on the tasks of the stage instead, for example `requires: [post_deployment_start]` and \
                    `required_for: [post_deployment_end]`";
        report("stage", message, help.to_owned());
    }
    // Another layer may set the type.
    let Some(task_type) = definition.task_type else { return };
    if task_type != TaskType::Group {
        for field in ["fault_tolerance", "tasks"] {
            let value = task.value(field).filter(|value| !is_empty(value));
            if value.is_some() {
                let message = format!("`{field}` has no effect: the task is not a group");
                let help = format!("set it in a task with `type: group`, or remove `{field}`");
                report(field, message, help);
            }
        }
    }
    let version = task.value("version").and_then(Json::as_str);
    let Some(version) = version.filter(|version| compare_versions(version, CROSS_VERSION).is_lt()) else {
        return;
    };
    let is_cross = |field: &str| task.value(field).is_some_and(|value| !is_empty(value));
    if let Some(field) = ["cross_depends", "cross_depended_by"].into_iter().find(|field| is_cross(field)) {
        let message =
            format!("`version: {version}` has no effect: the task has `{field}`, which is honoured");
        let help = format!("write `version: {CROSS_VERSION}`, or remove `{field}`");
        report("version", message, help);
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.is_empty(),
        value => value.is_null(),
    }
}
