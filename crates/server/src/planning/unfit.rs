//! What executors would refuse, found before anything is begun.

use std::collections::BTreeSet;

use stoker_planner::{Details, Plan, Problem, Severity, codes};
use stoker_tasks::Weight;

/// What is wrong with the parameters of tasks that a plan runs, once for each task and complaint.
pub(crate) fn unfit(plan: &Plan, is_judged: impl Fn(&Details) -> bool) -> Vec<(&str, String)> {
    let mut all = Vec::new();
    for task in &plan.tasks {
        let mut told = BTreeSet::new();
        for details in task.details.iter().filter(|details| is_judged(details)) {
            let remarks = stoker_tasks::check(&details.task_type, &details.parameters);
            let errors = remarks.into_iter().filter(|remark| remark.weight == Weight::Error);
            told.extend(errors.map(|remark| remark.message));
        }
        all.extend(told.into_iter().map(|message| (task.name.as_str(), message)));
    }
    all
}

/// The same as warnings of the plan. They tell of kinds of values and never of values, which may be secret.
pub(super) fn warnings(plan: &Plan) -> Vec<Problem> {
    let warning = |(task, message): (&str, String)| Problem {
        severity: Severity::Warning,
        code: codes::PARAMETERS,
        task: Some(task.to_owned()),
        field: "parameters".to_owned(),
        nodes: Vec::new(),
        message,
        place: None,
        help: None,
        origin: None,
    };
    unfit(plan, |_| true).into_iter().map(warning).collect()
}
