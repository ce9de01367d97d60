//! Cases in the directories of the task types: parameters, expected host calls and results.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use stoker_diagnostics::Diagnostics;
use stoker_engine::session::Mode;
use stoker_model::{HostDifference, Json, TaskReport};

use super::fake::{FakeContent, FakeEntry, FakeHost, FakeProgram, FakeUnit, Log, Script};
use crate::host::{Exit, FileOwner, Status, UnitState};
use crate::outcome::{Failure, FailureCause, TaskOutcome};
use crate::parameter::permissions;
use crate::{AttemptSpec, compare, describes_state, execute, mask_outcome};

/// One case of a file.
pub(super) struct Case {
    pub(super) task_type: &'static str,
    pub(super) json: Json,
}

pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for task_type in crate::all() {
        for text in task_type.cases {
            let json = yaml(text);
            let Json::Array(items) = json else { panic!("cases of `{}` are not a list", task_type.name) };
            cases.extend(items.into_iter().map(|json| Case { task_type: task_type.name, json }));
        }
    }
    cases
}

pub(super) fn yaml(text: &str) -> Json {
    let loaded = stoker_yaml::load(text, &stoker_yaml::LoadLimits::default());
    assert!(!loaded.has_errors(), "{:?}", loaded.problems);
    stoker_manifest::reader::json(&loaded.documents[0].root, &mut Diagnostics::default()).unwrap()
}

impl Case {
    pub(super) fn name(&self) -> String {
        format!("{}: {}", self.task_type, self.json["name"].as_str().unwrap_or("(no name)"))
    }

    pub(super) fn parameters(&self) -> &Json {
        &self.json["parameters"]
    }

    fn node(&self) -> &str {
        self.json["node"].as_str().unwrap_or("1")
    }

    pub(super) fn mode(&self) -> Mode {
        if self.json["mode"] == "noop" { Mode::Noop } else { Mode::Normal }
    }

    pub(super) fn script(&self) -> Script {
        let texts = |name: &str| -> Vec<String> {
            let items = self.json[name].as_array().cloned().unwrap_or_default();
            items.iter().filter_map(Json::as_str).map(str::to_owned).collect()
        };
        let hooks = self.json["hooks"].as_object().cloned().unwrap_or_default();
        Script {
            exits: self.json["exits"].as_array().into_iter().flatten().map(exit).collect::<VecDeque<_>>(),
            files: self.json["files"].as_object().into_iter().flatten().map(file).collect(),
            programs: self.json["programs"].as_array().into_iter().flatten().map(program).collect(),
            units: self.json["units"].as_object().into_iter().flatten().map(unit).collect(),
            probes: self.json["probes"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, is_met)| (name.clone(), is_met == true))
                .collect(),
            unwritable: texts("unwritable").into_iter().map(Into::into).collect(),
            hooks: hooks
                .into_iter()
                .map(|(name, path)| (name, path.as_str().unwrap_or_default().into()))
                .collect(),
            ..Script::default()
        }
    }

    pub(super) fn is_resource(&self) -> bool {
        describes_state(self.task_type)
    }

    /// Runs the case; returns its outcome, the host calls and the output.
    pub(super) fn run(&self, script: Script, mode: Mode) -> (TaskOutcome, Vec<Json>, String) {
        let (outcome, log) = self.run_on(script, mode);
        (outcome, log.calls.lock().clone(), log.output.lock().clone())
    }

    /// Compares the host with the case; returns the outcome and the host calls.
    pub(super) fn compare(&self, script: Script) -> (TaskOutcome, Vec<Json>) {
        let (host, log) = FakeHost::new(script);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let outcome = runtime.block_on(compare(self.task_type, self.parameters(), self.node(), host));
        (outcome, log.calls.lock().clone())
    }

    /// Runs the case; returns its outcome and what happened on the host.
    pub(super) fn run_on(&self, script: Script, mode: Mode) -> (TaskOutcome, Arc<Log>) {
        let (host, log) = FakeHost::new(script);
        let mask = host.mask();
        let order = AttemptSpec {
            task_type: self.task_type,
            parameters: self.parameters(),
            node: self.node(),
            mode,
            debug: self.json["debug"] == true,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let outcome = mask_outcome(runtime.block_on(execute(order, host)), &mask);
        (outcome, log)
    }
}

fn file((path, json): (&String, &Json)) -> (PathBuf, FakeEntry) {
    let text = |name: &str| json[name].as_str().map(str::to_owned);
    let content = match (text("link"), text("kind").as_deref()) {
        (Some(target), _) => FakeContent::Link(target.into()),
        (None, Some("directory")) => FakeContent::Directory,
        _ => FakeContent::File(text("data").unwrap_or_default().into_bytes()),
    };
    let mut entry = FakeEntry::new(content);
    if let Some(mode) = text("mode") {
        entry.permissions = permissions(&mode).unwrap();
    }
    if let Some((user, group)) = text("owner").as_deref().and_then(|owner| owner.split_once(':')) {
        entry.set_owner(FileOwner { user: Some(user.to_owned()), group: Some(group.to_owned()) });
    }
    (path.into(), entry)
}

fn unit((name, json): (&String, &Json)) -> (String, FakeUnit) {
    let text = |field: &str, default: &str| json[field].as_str().unwrap_or(default).to_owned();
    let state = UnitState {
        load: text("load", "loaded"),
        active: text("active", "inactive"),
        file: text("file", "disabled"),
        needs_reload: json["needs_reload"] == true,
    };
    (name.clone(), FakeUnit { state, fails: json["fails"] == true })
}

fn program(json: &Json) -> FakeProgram {
    let writes = json["writes"].as_object().into_iter().flatten();
    FakeProgram {
        command: json["command"].as_str().unwrap().to_owned(),
        code: json["code"].as_i64().unwrap_or(0) as i32,
        stderr: json["stderr"].as_str().unwrap_or_default().to_owned(),
        output_of: json["output_of"].as_str().map(Into::into),
        writes: writes.map(|(path, text)| (path.into(), text.as_str().unwrap().to_owned())).collect(),
    }
}

fn exit(json: &Json) -> Exit {
    let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| json[name].as_i64().map(|number| number as i32);
    let collected = json["collected"].as_object().cloned().unwrap_or_default();
    Exit {
        status: number("signal").map_or(Status::Code(number("code").unwrap_or(0)), Status::Signal),
        stdout_tail: text("stdout"),
        stderr_tail: text("stderr"),
        collected: collected
            .into_iter()
            .map(|(name, data)| (name, data.as_str().unwrap_or_default().into()))
            .collect(),
    }
}

#[test]
fn cases_have_the_expected_calls_and_results() {
    let cases = all();
    assert!(cases.len() > 30, "only {} cases", cases.len());
    let problems: Vec<String> = cases.iter().flat_map(differences).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Compares a case with its expectation, which may omit parts.
fn differences(case: &Case) -> Vec<String> {
    let (outcome, calls, output) = case.run(case.script(), case.mode());
    let (result, report): (Json, TaskReport) = match outcome {
        Ok(report) => ("succeeded".into(), report),
        Err(Failure { cause, report }) => {
            let result = match cause {
                FailureCause::Failed(message) => serde_json::json!({"failed": message}),
                FailureCause::Refused(message) => serde_json::json!({"refused": message}),
                FailureCause::Stopped(reason) => serde_json::json!({"stopped": reason.to_string()}),
            };
            (result, *report)
        }
    };
    let diff: Json = report.diff.iter().map(HostDifference::to_json).collect();
    let no_output = Json::Array(Vec::new());
    let of = |part: &str| case.json.get(part);
    [
        ("calls", Json::from(calls), Some(&case.json["calls"])),
        ("output", output.lines().map(Json::from).collect(), of("output").or(Some(&no_output))),
        ("result", result, Some(&case.json["result"])),
        ("summary", Json::Object(report.summary), of("summary")),
        ("changed", Json::from(report.changed), of("changed")),
        ("diff", diff, of("diff")),
    ]
    .into_iter()
    .filter(|(_, found, expected)| expected.is_some_and(|expected| expected != found))
    .map(|(part, found, expected)| {
        let expected = expected.map(Json::to_string).unwrap_or_default();
        format!("{part} of {}:\n  expected {expected}\n  found    {found}", case.name())
    })
    .collect()
}
