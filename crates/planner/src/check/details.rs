//! Checks that executors get complete, fully computed task details.

use stoker_model::{Json, TaskType};
use stoker_state::SYNC;

use super::Violations;
use crate::plan::{Details, InstanceAction, Plan};
use crate::strategy::strategy_type;

/// A map with this key is an unevaluated expression.
const EXPRESSION: &str = "yaql_exp";
/// Text under this key is a regular expression and is never evaluated.
const PATTERN: &str = "regex";

/// Checks each distinct value of details once; instances may share it.
pub(super) fn check_values(plan: &Plan, violations: &mut Violations) {
    for (task, details) in all_details(plan) {
        check_type(task, &details.task_type, violations);
        check_strategy(task, &details.parameters, violations);
        visit_nested("parameters", &details.parameters, &mut |path, value| {
            if matches!(value.get(EXPRESSION), Some(Json::String(_))) {
                violations
                    .add("computed", || format!("{path} of task `{task}` is an unevaluated expression"));
            }
        });
    }
}

pub(super) fn check_placeholders(plan: &Plan, placeholders: &[String], violations: &mut Violations) {
    for (task, details) in all_details(plan) {
        visit_nested("parameters", &details.parameters, &mut |path, value| {
            let Json::String(text) = value else { return };
            for name in placeholders.iter().filter(|name| text.contains(name.as_str())) {
                violations.add("placeholders", || {
                    format!("{path} of task `{task}` still contains the placeholder {name}")
                });
            }
        });
    }
}

/// Checks that the instances with details are exactly those that run.
pub(super) fn check_instances(plan: &Plan, violations: &mut Violations) {
    for task in &plan.tasks {
        let mut is_used = vec![false; task.details.len()];
        for (position, node_idx) in task.nodes.iter().enumerate() {
            let idx = task.first.index() + position;
            let (verdict, details_idx) = (plan.verdicts[idx], plan.details[idx]);
            let uid = &plan.nodes[node_idx.index()];
            let name = || format!("{}@{uid}", task.name);
            let is_used_here = details_idx.and_then(|details_idx| is_used.get_mut(details_idx.index()));
            match (verdict.action(), is_used_here) {
                (InstanceAction::Run, None) => {
                    violations.add("details", || format!("{} runs without details", name()));
                }
                (InstanceAction::Run, Some(is_used)) => *is_used = true,
                (InstanceAction::Skip, _) if details_idx.is_some() => {
                    violations.add("details", || format!("{} is skipped but has details", name()));
                }
                (InstanceAction::Skip, _) => {}
            }
            if verdict.action() == InstanceAction::Run && uid == SYNC {
                violations
                    .add("details", || format!("{} runs on a virtual node without an executor", name()));
            }
        }
        if is_used.contains(&false) {
            violations.add("details", || format!("task `{}` has details that no instance uses", task.name));
        }
    }
}

fn all_details(plan: &Plan) -> impl Iterator<Item = (&str, &Details)> {
    plan.tasks.iter().flat_map(|task| task.details.iter().map(|details| (task.name.as_str(), details)))
}

fn check_type(task: &str, type_name: &str, violations: &mut Violations) {
    let is_executable = match TaskType::parse(type_name) {
        None | Some(TaskType::Group | TaskType::Stage | TaskType::Skipped) => false,
        Some(_) => true,
    };
    if !is_executable {
        violations
            .add("type", || format!("task `{task}` runs with type `{type_name}`, which has no executor"));
    }
}

fn check_strategy(task: &str, parameters: &Json, violations: &mut Violations) {
    let Some(strategy) = parameters.get("strategy").filter(|strategy| !strategy.is_null()) else { return };
    if strategy_type(strategy).is_none() {
        violations.add("strategy", || format!("the strategy of task `{task}` is invalid: {strategy}"));
    }
    match strategy.get("amount") {
        None | Some(Json::Null) => {}
        Some(amount) if amount.is_u64() => {}
        Some(amount) => {
            violations.add("strategy", || {
                format!("the strategy amount of task `{task}` is not a non-negative integer: {amount}")
            });
        }
    }
}

/// Visits a value and all nested values except those under [`PATTERN`]. Iterative, so deep nesting cannot
/// overflow the call stack.
fn visit_nested(name: &str, value: &Json, visit: &mut dyn FnMut(&str, &Json)) {
    let mut pending = vec![(name.to_owned(), value)];
    while let Some((path, value)) = pending.pop() {
        visit(&path, value);
        match value {
            Json::Array(items) => {
                pending.extend(items.iter().enumerate().map(|(idx, item)| (format!("{path}[{idx}]"), item)));
            }
            Json::Object(map) => {
                let inner = map.iter().filter(|(key, _)| *key != PATTERN);
                pending.extend(inner.map(|(key, value)| (format!("{path}.{key}"), value)));
            }
            _ => {}
        }
    }
}
