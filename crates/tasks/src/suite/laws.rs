//! Invariants that hold for every task type.

use stoker_diagnostics::Severity;
use stoker_engine::session::Mode;
use stoker_model::{Json, TaskType as Word};

use super::cases::{all, yaml};
use super::fake::Script;
use crate::host::StopReason;
use crate::outcome::{Failure, FailureCause};
use crate::parameter::{Parameter, ParameterRequirement, ParameterType};
use crate::{TASK_TYPES, check, find};

#[test]
fn every_type_is_documented_and_accepted_in_graphs() {
    for task_type in TASK_TYPES {
        let name = task_type.name;
        assert!(Word::parse(name).is_some(), "graphs reject `{name}`");
        for text in [task_type.summary, task_type.reference, task_type.noop] {
            assert!(text.ends_with('.'), "`{name}`: `{text}` is not a sentence");
        }
        for parameter in task_type.parameters {
            let is_described = matches!(parameter.requirement, ParameterRequirement::Ignored(_))
                || parameter.description.ends_with('.');
            assert!(is_described, "`{name}` does not describe `{}`", parameter.name);
        }
        assert_eq!(
            task_type.run.is_some(),
            !task_type.cases.is_empty(),
            "`{name}` has cases exactly if it is executed"
        );
    }
    // `role` is an alias that is never executed.
    let names = Word::NAMES.iter().filter(|name| **name != "role");
    assert_eq!(names.filter(|name| find(name).is_none()).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn examples_have_known_parameters_only() {
    for task_type in crate::all() {
        let example = yaml(task_type.example);
        assert_eq!(example[0]["type"], task_type.name);
        let problems = check(task_type.name, &example[0]["parameters"]);
        let unknown: Vec<_> =
            problems.iter().filter(|problem| problem.message.starts_with("unknown")).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}

#[test]
fn defaults_match_their_kind() {
    fn check_table(table: &[Parameter]) {
        for parameter in table {
            if let ParameterRequirement::Default(text) = parameter.requirement {
                let value = serde_json::from_str(text)
                    .ok()
                    .filter(|_| !matches!(parameter.kind, ParameterType::Permissions));
                assert!(
                    parameter.kind.accepts(&value.unwrap_or_else(|| text.into())),
                    "{}: {text}",
                    parameter.name
                );
            }
            if let ParameterType::MapList(inner) = parameter.kind {
                check_table(inner);
            }
        }
    }
    for task_type in crate::all() {
        check_table(task_type.parameters);
    }
}

#[test]
fn unknown_and_missing_parameters_are_reported() {
    for task_type in crate::all() {
        let problems = check(task_type.name, &serde_json::json!({"no_such_thing": 1}));
        let unknown = problems.iter().find(|problem| problem.location.path == "no_such_thing");
        assert_eq!(unknown.map(|problem| problem.severity), Some(Severity::Warning), "{}", task_type.name);
        for parameter in task_type
            .parameters
            .iter()
            .filter(|parameter| parameter.requirement == ParameterRequirement::Required)
        {
            let expected = format!("Missing a required parameter {}", parameter.name);
            assert!(
                problems.iter().any(|problem| problem.message == expected),
                "{}: {expected}",
                task_type.name
            );
        }
        let problems = check(task_type.name, &Json::Null);
        let n_required = task_type
            .parameters
            .iter()
            .filter(|parameter| parameter.requirement == ParameterRequirement::Required)
            .count();
        assert_eq!(problems.len(), n_required, "{problems:?}");
    }
}

#[test]
fn check_does_not_panic_on_any_parameters() {
    let invalid = [
        Json::Null,
        true.into(),
        1.5.into(),
        "".into(),
        "x".into(),
        serde_json::json!([]),
        serde_json::json!([{}]),
        serde_json::json!({"a": [null]}),
    ];
    for task_type in crate::all() {
        for value in &invalid {
            check(task_type.name, value);
            let map = task_type.parameters.iter().map(|parameter| (parameter.name.to_owned(), value.clone()));
            check(task_type.name, &Json::Object(map.collect()));
        }
    }
}

#[test]
fn noop_changes_nothing() {
    for case in all() {
        let (_, calls, _) = case.run(case.script(), Mode::Noop);
        for call in calls {
            assert_eq!(call["effect"], "reads", "a noop of {} does {call}", case.name());
        }
    }
}

#[test]
fn stop_is_not_reported_as_failure() {
    for reason in [StopReason::Cancelled, StopReason::TimedOut] {
        for case in all() {
            let (_, calls, _) = case.run(case.script(), Mode::Normal);
            if calls.is_empty() {
                continue;
            }
            let (outcome, calls, _) = case.run(Script { stops: Some(reason), ..case.script() }, Mode::Normal);
            let cause = outcome.map_err(|failure| failure.cause);
            assert_eq!(cause, Err(FailureCause::Stopped(reason)), "{}", case.name());
            assert_eq!(calls.len(), 1, "{} continues after the stop", case.name());
        }
    }
}

/// Collects the strings in the parameters; each is treated as a secret.
fn texts(value: &Json, strings: &mut Vec<String>) {
    match value {
        Json::String(text) if text.trim().len() > 3 => strings.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| texts(item, strings)),
        Json::Object(map) => map.values().for_each(|item| texts(item, strings)),
        _ => {}
    }
}

#[test]
fn secrets_are_masked_in_output_and_result() {
    for case in all() {
        let mut secrets = Vec::new();
        texts(case.parameters(), &mut secrets);
        for mode in [Mode::Normal, Mode::Noop] {
            let (outcome, _, output) = case.run(Script { secrets: secrets.clone(), ..case.script() }, mode);
            let result = match outcome {
                Ok(summary) => Json::Object(summary).to_string(),
                Err(Failure { cause, summary }) => format!("{cause:?} {}", Json::Object(summary)),
            };
            for secret in &secrets {
                assert!(!output.contains(secret.as_str()), "{} prints `{secret}`: {output}", case.name());
                assert!(!result.contains(secret.as_str()), "{} returns `{secret}`: {result}", case.name());
            }
        }
    }
}
