//! What must hold for each type, whoever wrote it.

use stoker_engine::session::Mode;
use stoker_model::{Json, TaskType as Word};

use super::cases::{all, yaml};
use super::fake::Script;
use crate::host::StopReason;
use crate::outcome::{Cause, Failure};
use crate::parameter::{Kind, Need, Parameter};
use crate::{TASK_TYPES, Weight, check, find};

#[test]
fn every_type_is_documented_and_can_be_uploaded() {
    for task_type in TASK_TYPES {
        let name = task_type.name;
        assert!(Word::parse(name).is_some(), "graphs refuse `{name}`");
        for text in [task_type.about, task_type.reference, task_type.noop] {
            assert!(text.ends_with('.'), "`{name}`: `{text}` is no sentence");
        }
        for parameter in task_type.parameters {
            let is_told = matches!(parameter.need, Need::Ignored(_)) || parameter.about.ends_with('.');
            assert!(is_told, "`{name}` says nothing about `{}`", parameter.name);
        }
        assert_eq!(
            task_type.run.is_some(),
            !task_type.cases.is_empty(),
            "`{name}` has a case if it does something"
        );
    }
    // An alias that nothing executes.
    let known = Word::NAMES.iter().filter(|name| **name != "role");
    assert_eq!(known.filter(|name| find(name).is_none()).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn examples_are_tasks_of_their_type_with_parameters_it_knows() {
    for task_type in crate::all() {
        let example = yaml(task_type.example);
        assert_eq!(example[0]["type"], task_type.name);
        let remarks = check(task_type.name, &example[0]["parameters"]);
        let unknown: Vec<_> = remarks.iter().filter(|remark| remark.message.starts_with("unknown")).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}

#[test]
fn defaults_are_of_their_own_kind() {
    fn check_table(table: &[Parameter]) {
        for parameter in table {
            if let Need::Default(text) = parameter.need {
                let value =
                    serde_json::from_str(text).ok().filter(|_| !matches!(parameter.kind, Kind::Permissions));
                assert!(
                    parameter.kind.fits(&value.unwrap_or_else(|| text.into())),
                    "{}: {text}",
                    parameter.name
                );
            }
            if let Kind::Maps(inner) = parameter.kind {
                check_table(inner);
            }
        }
    }
    for task_type in crate::all() {
        check_table(task_type.parameters);
    }
}

#[test]
fn unknown_parameters_are_reported_and_missing_ones_named() {
    for task_type in crate::all() {
        let remarks = check(task_type.name, &serde_json::json!({"no_such_thing": 1}));
        let unknown = remarks.iter().find(|remark| remark.place == "no_such_thing");
        assert_eq!(unknown.map(|remark| remark.weight), Some(Weight::Warning), "{}", task_type.name);
        for parameter in task_type.parameters.iter().filter(|parameter| parameter.need == Need::Required) {
            let expected = format!("Missing a required parameter {}", parameter.name);
            assert!(
                remarks.iter().any(|remark| remark.message == expected),
                "{}: {expected}",
                task_type.name
            );
        }
        let remarks = check(task_type.name, &Json::Null);
        let n_required =
            task_type.parameters.iter().filter(|parameter| parameter.need == Need::Required).count();
        assert_eq!(remarks.len(), n_required, "{remarks:?}");
    }
}

#[test]
fn whatever_the_parameters_are_nothing_panics() {
    let wrong = [
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
        for value in &wrong {
            check(task_type.name, value);
            let map = task_type.parameters.iter().map(|parameter| (parameter.name.to_owned(), value.clone()));
            check(task_type.name, &Json::Object(map.collect()));
        }
    }
}

#[test]
fn a_noop_touches_nothing() {
    for case in all() {
        let (_, calls, _) = case.run(case.script(), Mode::Noop);
        for call in calls {
            assert_eq!(call["effect"], "reads", "a noop of {} does {call}", case.name());
        }
    }
}

#[test]
fn stops_are_honoured_and_told_apart_from_failures() {
    for reason in [StopReason::Cancelled, StopReason::TimedOut] {
        for case in all() {
            let (_, calls, _) = case.run(case.script(), Mode::Normal);
            if calls.is_empty() {
                continue;
            }
            let (outcome, calls, _) = case.run(Script { stops: Some(reason), ..case.script() }, Mode::Normal);
            let cause = outcome.map_err(|failure| failure.cause);
            assert_eq!(cause, Err(Cause::Stopped(reason)), "{}", case.name());
            assert_eq!(calls.len(), 1, "{} goes on after it was stopped", case.name());
        }
    }
}

/// Texts of the parameters, each taken for a secret once.
fn texts(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::String(text) if text.trim().len() > 3 => found.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Json::Object(map) => map.values().for_each(|item| texts(item, found)),
        _ => {}
    }
}

#[test]
fn secrets_reach_neither_output_nor_result() {
    for case in all() {
        let mut secrets = Vec::new();
        texts(case.parameters(), &mut secrets);
        for mode in [Mode::Normal, Mode::Noop] {
            let (outcome, _, said) = case.run(Script { secrets: secrets.clone(), ..case.script() }, mode);
            let told = match outcome {
                Ok(summary) => Json::Object(summary).to_string(),
                Err(Failure { cause, summary }) => format!("{cause:?} {}", Json::Object(summary)),
            };
            for secret in &secrets {
                assert!(!said.contains(secret.as_str()), "{} says `{secret}`: {said}", case.name());
                assert!(!told.contains(secret.as_str()), "{} tells `{secret}`: {told}", case.name());
            }
        }
    }
}
