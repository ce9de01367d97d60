//! Validation of planned parameters by task type.

use std::collections::{BTreeMap, BTreeSet};

use stoker_diagnostics::{Diagnostic, Severity};
use stoker_model::InstanceIdx;
use stoker_planner::{Details, Plan, PlannedTask, codes};

/// Number of distinct parameter sets per task that are validated. A mistake is usually the same in all of them, and
/// the agent validates its own parameters again.
const VALIDATED_MAX: usize = 64;

/// Returns parameter errors of tasks that the plan runs, once per task and message.
pub fn unfit(plan: &Plan, is_selected: impl Fn(&Details) -> bool) -> Vec<(&str, String)> {
    let mut all = Vec::new();
    for task in &plan.tasks {
        let selected = task.details.iter().take(VALIDATED_MAX).filter(|details| is_selected(details));
        let problems =
            selected.flat_map(|details| stoker_tasks::check(&details.task_type, &details.parameters));
        let errors = problems.filter(Diagnostic::is_error);
        let messages: BTreeSet<String> = errors.map(|error| error.message).collect();
        all.extend(messages.into_iter().map(|message| (task.name.as_str(), message)));
    }
    all
}

/// Returns warnings, each with its nodes. They are not plan errors, since the failure of a task may be tolerated.
/// Messages name value types, never values, which may be secret.
pub(super) fn warnings(plan: &Plan) -> Vec<Diagnostic> {
    plan.tasks.iter().flat_map(|task| of_task(plan, task)).collect()
}

fn of_task(plan: &Plan, task: &PlannedTask) -> Vec<Diagnostic> {
    // Indices of the affected parameter sets, by field and message.
    let mut indices_by_warning: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (idx, details) in task.details.iter().take(VALIDATED_MAX).enumerate() {
        for Diagnostic { severity, message, location, .. } in
            stoker_tasks::check(&details.task_type, &details.parameters)
        {
            let message = match severity {
                Severity::Note => continue,
                Severity::Warning => message,
                Severity::Error => format!("{message}; the task would fail"),
            };
            indices_by_warning.entry((location.path, message)).or_default().push(idx);
        }
    }
    let warning = |((parameter, message), which): ((String, String), Vec<usize>)| {
        let path =
            if parameter.is_empty() { "parameters".to_owned() } else { format!("parameters.{parameter}") };
        let warning = Diagnostic::warning(codes::PARAMETERS, message).task(&task.name, path);
        warning.nodes(nodes_with(plan, task, &which))
    };
    indices_by_warning.into_iter().map(warning).collect()
}

fn nodes_with(plan: &Plan, task: &PlannedTask, which: &[usize]) -> Vec<String> {
    let has_one = |idx: InstanceIdx| {
        let details = plan.details(idx);
        details.is_some_and(|details| {
            which.iter().any(|one| std::ptr::eq(details, &raw const task.details[*one]))
        })
    };
    let instances = plan.instances_of(task).filter(|instance| has_one(instance.idx));
    instances.map(|instance| instance.node.to_owned()).collect()
}
