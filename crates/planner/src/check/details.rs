//! Whether executors get what they need, with nothing left to be computed.

use stoker_model::{Json, TaskType};

use super::Findings;
use crate::plan::{Action, Details, Plan};
use crate::state::SYNC;

/// A map with this key is an expression.
const EXPRESSION: &str = "yaql_exp";
/// Text under this key is a pattern and is never computed.
const PATTERN: &str = "regex";

/// Details as such, each once however many instances share them.
pub(super) fn check_values(plan: &Plan, findings: &mut Findings) {
    for (task, details) in all(plan) {
        check_type(task, &details.task_type, findings);
        check_strategy(task, &details.parameters, findings);
        walk("parameters", &details.parameters, &mut |path, value| {
            if matches!(value.get(EXPRESSION), Some(Json::String(_))) {
                findings.add("computed", || format!("{path} of task `{task}` is still an expression"));
            }
        });
    }
}

pub(super) fn check_placeholders(plan: &Plan, placeholders: &[String], findings: &mut Findings) {
    for (task, details) in all(plan) {
        walk("parameters", &details.parameters, &mut |path, value| {
            let Json::String(text) = value else { return };
            for name in placeholders.iter().filter(|name| text.contains(name.as_str())) {
                findings.add("placeholders", || format!("{path} of task `{task}` still has {name}"));
            }
        });
    }
}

/// Which instances have details: those that run, and no others.
pub(super) fn check_instances(plan: &Plan, findings: &mut Findings) {
    for task in &plan.tasks {
        let mut is_used = vec![false; task.details.len()];
        for (place, node_idx) in task.nodes.iter().enumerate() {
            let idx = task.first as usize + place;
            let (verdict, details_idx) = (plan.verdicts[idx], plan.details[idx] as usize);
            let uid = &plan.nodes[*node_idx as usize];
            let name = || format!("{}@{uid}", task.name);
            match (verdict.action(), is_used.get_mut(details_idx)) {
                (Action::Run, None) => findings.add("details", || format!("{} runs without details", name())),
                (Action::Run, Some(is_used)) => *is_used = true,
                (Action::Skip, _) if details_idx != u32::MAX as usize => {
                    findings.add("details", || format!("{} is skipped and has details", name()));
                }
                (Action::Skip, _) => {}
            }
            if verdict.action() == Action::Run && uid == SYNC {
                findings.add("details", || format!("{} runs where nothing can run", name()));
            }
        }
        if is_used.contains(&false) {
            findings.add("details", || format!("task `{}` has details that no instance has", task.name));
        }
    }
}

fn all(plan: &Plan) -> impl Iterator<Item = (&str, &Details)> {
    plan.tasks.iter().flat_map(|task| task.details.iter().map(|details| (task.name.as_str(), details)))
}

fn check_type(task: &str, word: &str, findings: &mut Findings) {
    let is_run = match TaskType::parse(word) {
        None | Some(TaskType::Group | TaskType::Stage | TaskType::Skipped) => false,
        Some(_) => true,
    };
    if !is_run {
        findings.add("type", || format!("task `{task}` runs as `{word}`, which nothing can run"));
    }
}

fn check_strategy(task: &str, parameters: &Json, findings: &mut Findings) {
    let Some(strategy) = parameters.get("strategy").filter(|strategy| !strategy.is_null()) else { return };
    let word = strategy.get("type");
    if !matches!(word.and_then(Json::as_str), Some("parallel" | "one_by_one")) {
        findings.add("strategy", || format!("the strategy of task `{task}` is {strategy}"));
    }
    match strategy.get("amount") {
        None | Some(Json::Null) => {}
        Some(amount) if amount.is_u64() => {}
        Some(amount) => {
            findings.add("strategy", || format!("the amount in the strategy of task `{task}` is {amount}"));
        }
    }
}

/// Looks at every value in another, patterns excepted. With a stack of its own: whatever nests, it does not overflow.
fn walk(name: &str, value: &Json, look: &mut dyn FnMut(&str, &Json)) {
    let mut waiting = vec![(name.to_owned(), value)];
    while let Some((path, value)) = waiting.pop() {
        look(&path, value);
        match value {
            Json::Array(items) => {
                waiting.extend(items.iter().enumerate().map(|(idx, item)| (format!("{path}[{idx}]"), item)));
            }
            Json::Object(map) => {
                let inner = map.iter().filter(|(key, _)| *key != PATTERN);
                waiting.extend(inner.map(|(key, value)| (format!("{path}.{key}"), value)));
            }
            _ => {}
        }
    }
}
