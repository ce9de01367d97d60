//! What the types of tasks say of the parameters that they would get.

use std::collections::{BTreeMap, BTreeSet};

use stoker_planner::{Details, Plan, PlannedTask, Problem, Severity, codes};
use stoker_tasks::{Remark, Weight};

/// Of parameters that differ from node to node so many are looked at: a mistake is usually the same in all of them, and an
/// agent judges its own again before it begins.
const LOOKED_AT_MAX: usize = 64;

/// What agents would refuse of tasks that a plan runs, once for each task and complaint.
pub fn unfit(plan: &Plan, is_judged: impl Fn(&Details) -> bool) -> Vec<(&str, String)> {
    let mut all = Vec::new();
    for task in &plan.tasks {
        let judged = task.details.iter().take(LOOKED_AT_MAX).filter(|details| is_judged(details));
        let remarks = judged.flat_map(|details| stoker_tasks::check(&details.task_type, &details.parameters));
        let errors = remarks.filter(|remark| remark.weight == Weight::Error);
        let told: BTreeSet<String> = errors.map(|remark| remark.message).collect();
        all.extend(told.into_iter().map(|message| (task.name.as_str(), message)));
    }
    all
}

/// Warnings, each once with its nodes. They are no errors: that a task fails may not matter. They tell of kinds of values and
/// never of values, which may be secret.
pub(super) fn remarks(plan: &Plan) -> Vec<Problem> {
    plan.tasks.iter().flat_map(|task| of_task(plan, task)).collect()
}

fn of_task(plan: &Plan, task: &PlannedTask) -> Vec<Problem> {
    // By place and message: which of the details it is about.
    let mut found: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (idx, details) in task.details.iter().take(LOOKED_AT_MAX).enumerate() {
        for Remark { place, weight, message } in stoker_tasks::check(&details.task_type, &details.parameters)
        {
            let message = match weight {
                Weight::Note => continue,
                Weight::Warning => message,
                Weight::Error => format!("{message}; so it would fail"),
            };
            found.entry((place, message)).or_default().push(idx);
        }
    }
    let problem = |((place, message), which): ((String, String), Vec<usize>)| Problem {
        severity: Severity::Warning,
        code: codes::PARAMETERS,
        task: Some(task.name.clone()),
        field: if place.is_empty() { "parameters".to_owned() } else { format!("parameters.{place}") },
        nodes: nodes_with(plan, task, &which),
        message,
        place: None,
        help: None,
        origin: None,
    };
    found.into_iter().map(problem).collect()
}

fn nodes_with(plan: &Plan, task: &PlannedTask, which: &[usize]) -> Vec<String> {
    let has_one = |idx: u32| {
        let details = plan.details(idx);
        details.is_some_and(|details| {
            which.iter().any(|one| std::ptr::eq(details, &raw const task.details[*one]))
        })
    };
    let instances = plan.instances_of(task).filter(|instance| has_one(instance.idx));
    instances.map(|instance| instance.node.to_owned()).collect()
}
