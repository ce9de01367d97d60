//! Invariants that hold for every task type.

use stoker_diagnostics::Severity;
use stoker_engine::session::Mode;
use stoker_model::{Json, TaskType as Word};

use super::cases::{Case, all, yaml};
use super::fake::{Death, Script};
use crate::host::StopReason;
use crate::outcome::{Failure, FailureCause};
use crate::parameter::{Parameter, ParameterRequirement, ParameterType};
use crate::{TASK_TYPES, TaskRunner, check, find};

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
                Ok(report) => format!("{report:?}"),
                Err(Failure { cause, report }) => format!("{cause:?} {report:?}"),
            };
            for secret in &secrets {
                assert!(!output.contains(secret.as_str()), "{} prints `{secret}`: {output}", case.name());
                assert!(!result.contains(secret.as_str()), "{} returns `{secret}`: {result}", case.name());
            }
        }
    }
}

/// Whether an attempt of this case succeeds and its changes have a state that a check can see.
pub(super) fn converges(case: &Case) -> bool {
    case.is_resource() && case.json["result"] == "succeeded" && case.json["is_action"] != true
}

#[test]
fn applying_a_resource_twice_changes_nothing_the_second_time() {
    for case in all().iter().filter(|case| converges(case)) {
        let (_, log) = case.run_on(case.script(), Mode::Normal);
        let (outcome, calls, _) = case.run(case.script().after(&log), Mode::Normal);
        let report = outcome.unwrap();
        // A refresh precedes each check.
        let n_refreshes = usize::from(case.json["refreshes"] == true);
        assert_eq!((report.changed, report.diff), (Some(false), vec![]), "{}", case.name());
        assert_eq!(calls.len(), n_refreshes, "{}: {calls:?}", case.name());
    }
}

#[test]
fn a_dry_run_of_a_resource_reports_what_an_attempt_changes() {
    // A dry run compares with what was refreshed last.
    let is_predictable = |case: &&Case| converges(case) && case.json["refreshes"] != true;
    for case in all().iter().filter(is_predictable) {
        let (dry, _, _) = case.run(case.script(), Mode::Noop);
        let (done, calls, _) = case.run(case.script(), Mode::Normal);
        let (dry, done) = (dry.unwrap(), done.unwrap());
        assert_eq!((dry.changed, dry.diff), (done.changed, done.diff), "{}", case.name());
        assert_eq!(done.changed, Some(!calls.is_empty()), "{}", case.name());
    }
}

#[test]
fn a_comparison_reports_the_differences_of_a_dry_run_and_changes_nothing() {
    for case in all().iter().filter(|case| converges(case)) {
        let (compared, calls) = case.compare(case.script());
        let (dry, log) = case.run_on(case.script(), Mode::Noop);
        let (compared, dry) = (compared.unwrap(), dry.unwrap());
        assert_eq!((compared.changed, compared.diff), (dry.changed, dry.diff), "{}", case.name());
        assert!(calls.iter().all(|call| call["effect"] == "reads"), "{}: {calls:?}", case.name());
        assert_eq!(*log.files.lock(), case.script().files, "{}", case.name());
    }
}

#[test]
fn actions_and_types_without_a_state_have_no_differences() {
    for case in all().iter().filter(|case| case.json["result"] == "succeeded") {
        let (compared, calls) = case.compare(case.script());
        if !case.is_resource() {
            assert!(compared.is_err() && calls.is_empty(), "{}", case.name());
        } else if case.json["is_action"] == true {
            assert_eq!(compared.unwrap().diff, [], "{}", case.name());
        }
    }
}

#[test]
fn a_resource_converges_after_a_death_at_any_host_call() {
    for case in all().iter().filter(|case| converges(case)) {
        converges_after_deaths(case, &case.script());
    }
}

/// Kills the agent at each host call; the next attempt completes the work.
pub(super) fn converges_after_deaths(case: &Case, script: &Script) {
    let (_, complete) = case.run_on(script.clone(), Mode::Normal);
    let n_calls = *complete.n_calls.lock();
    for (call, death) in (0..n_calls).flat_map(|call| DEATHS.map(|death| (call, death))) {
        let name = format!("{} after a death at call {call} {death:?}", case.name());
        let (outcome, log) =
            case.run_on(Script { dies_at: Some((call, death)), ..script.clone() }, Mode::Normal);
        let cause = outcome.unwrap_err().cause;
        assert_eq!(cause, FailureCause::Stopped(StopReason::AgentShutdown), "{name}");
        let (outcome, log) = case.run_on(script.clone().after(&log), Mode::Normal);
        assert!(outcome.is_ok(), "{name}: {outcome:?}");
        assert_eq!(log.state(), complete.state(), "{name}");
    }
}

const DEATHS: [Death; 3] = [Death::Before, Death::Within, Death::After];

#[test]
fn a_failure_names_subject_and_cause() {
    for case in all().iter().filter(|case| case.is_resource()) {
        let (outcome, log) = case.run_on(case.script(), Mode::Normal);
        if let Err(Failure { cause: FailureCause::Failed(message), .. }) = outcome {
            let mut parameters = Vec::new();
            texts(case.parameters(), &mut parameters);
            let names = message.contains('`') || parameters.iter().any(|text| message.contains(text));
            assert!(names, "{}: {message}", case.name());
            continue;
        }
        let n_changes = log.calls.lock().len();
        for change in 0..n_changes {
            let failing = Script { fails_at: Some(change), ..case.script() };
            let (outcome, calls, _) = case.run(failing, Mode::Normal);
            let failure = outcome.unwrap_err();
            let FailureCause::Failed(message) = &failure.cause else {
                panic!("{}: {failure:?}", case.name())
            };
            assert!(
                message.ends_with("Input/output error") && message.contains('`'),
                "{}: {message}",
                case.name()
            );
            assert_eq!(calls.len(), change + 1, "{} continues after a failure", case.name());
            // What was changed before is reported; the effect of the failed change is unknown.
            let expected = (change > 0 && case.json["refreshes"] != true).then_some(true);
            if case.json["refreshes"] != true {
                assert_eq!(failure.report.changed, expected, "{}", case.name());
            }
        }
    }
}

/// Types of Fuel that converge as well, but without a condition run each time, as they do there.
const RUN_EACH_TIME: &[&str] = &["copy_files", "sync", "upload_file", "upload_files"];

#[test]
fn resources_run_by_default_when_their_inputs_changed() {
    for task_type in TASK_TYPES {
        let name = task_type.name;
        let converges = matches!(task_type.run, Some(TaskRunner::Resource(_))) || name == "command";
        let expected = converges && !RUN_EACH_TIME.contains(&name);
        assert_eq!(Word::parse(name).map(Word::has_desired_state), Some(expected), "{name}");
    }
}
