//! Cases in the directories of the task types: parameters, expected host calls and results.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use stoker_diagnostics::Diagnostics;
use stoker_engine::session::Mode;
use stoker_model::{HostDifference, Json, TaskReport};

use super::fake::{FakeContent, FakeEntry, FakeHost, FakeProgram, Log, Script};
use crate::host::{Exit, FileOwner, Status};
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
    for case in cases {
        let (outcome, calls, output) = case.run(case.script(), case.mode());
        let name = case.name();
        assert_eq!(Json::from(calls), case.json["calls"], "calls of {name}");
        let lines: Vec<Json> = output.lines().map(Json::from).collect();
        let expected = case.json.get("output").cloned().unwrap_or_else(|| Json::Array(Vec::new()));
        assert_eq!(Json::Array(lines), expected, "output of {name}");
        let (result, report): (Json, TaskReport) = match outcome {
            Ok(report) => ("succeeded".into(), report),
            Err(Failure { cause: FailureCause::Failed(message), report }) => {
                (serde_json::json!({"failed": message}), *report)
            }
            Err(Failure { cause: FailureCause::Refused(message), report }) => {
                (serde_json::json!({"refused": message}), *report)
            }
            Err(Failure { cause: FailureCause::Stopped(reason), .. }) => {
                panic!("{name} was stopped: {reason}")
            }
        };
        assert_eq!(result, case.json["result"], "result of {name}");
        if let Some(expected) = case.json.get("summary") {
            assert_eq!(&Json::Object(report.summary), expected, "summary of {name}");
        }
        if let Some(expected) = case.json.get("changed") {
            assert_eq!(&Json::from(report.changed), expected, "`changed` of {name}");
        }
        if let Some(expected) = case.json.get("diff") {
            let diff: Json = report.diff.iter().map(HostDifference::to_json).collect();
            assert_eq!(&diff, expected, "diff of {name}");
        }
    }
}
