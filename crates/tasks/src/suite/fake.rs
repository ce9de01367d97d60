//! Host that records calls and returns scripted results.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::json;
use stoker_model::{Json, JsonMap};

use crate::host::{Command, CommandEffect, Exit, FileToWrite, Host, HostError, HostFuture, StopReason};
use crate::output::{Mask, OUTPUT_HEAD_TAIL_BYTES, OutputReport};

#[derive(Default)]
pub(super) struct Script {
    pub(super) exits: VecDeque<Exit>,
    pub(super) exists: BTreeSet<PathBuf>,
    pub(super) unwritable: BTreeSet<PathBuf>,
    pub(super) hooks: BTreeMap<String, PathBuf>,
    pub(super) secrets: Vec<String>,
    /// Stop reason returned by every call that takes time.
    pub(super) stops: Option<StopReason>,
}

pub(super) struct FakeHost {
    script: Mutex<Script>,
    log: Arc<Log>,
    report: OutputReport,
}

/// Calls and output, available after the attempt.
#[derive(Default)]
pub(super) struct Log {
    pub(super) calls: Mutex<Vec<Json>>,
    /// Complete output of the attempt.
    pub(super) output: Mutex<String>,
}

impl FakeHost {
    pub(super) fn new(script: Script) -> (Self, Arc<Log>) {
        let log = Arc::new(Log::default());
        let sink = Arc::clone(&log);
        let sink = move |_, _, text: String| sink.output.lock().unwrap().push_str(&text);
        let report = OutputReport::new(&script.secrets, OUTPUT_HEAD_TAIL_BYTES, Box::new(sink));
        (Self { script: Mutex::new(script), log: Arc::clone(&log), report }, log)
    }

    pub(super) fn mask(&self) -> Mask {
        self.report.mask().clone()
    }

    fn record(&self, call: Json) -> Result<(), HostError> {
        self.log.calls.lock().unwrap().push(call);
        match self.script.lock().unwrap().stops {
            Some(reason) => Err(HostError::Stopped(reason)),
            None => Ok(()),
        }
    }
}

impl Host for FakeHost {
    fn run(&self, command: Command) -> HostFuture<'_, Result<Exit, HostError>> {
        let recorded = self.record(describe(&command));
        let exit = self.script.lock().unwrap().exits.pop_front().unwrap_or_default();
        Box::pin(async move {
            recorded?;
            let masked = |text: String| self.report.mask().text(&text);
            Ok(Exit { stdout_tail: masked(exit.stdout_tail), stderr_tail: masked(exit.stderr_tail), ..exit })
        })
    }

    fn write(&self, file: FileToWrite) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async move {
            if self.script.lock().unwrap().unwritable.contains(&file.path) {
                return Err(HostError::file("write", &file.path, &"No space left on device"));
            }
            let mut call = json!({
                "write": file.path.display().to_string(),
                "data": String::from_utf8_lossy(&file.data),
                "permissions": format!("{:04o}", file.permissions),
            });
            if let Some(parents) = file.parents {
                call["parents"] = format!("{parents:04o}").into();
            }
            if let Some(owner) = file.owner {
                call["owner"] = format!("{}:{}", owner.user, owner.group).into();
            }
            self.record(call)
        })
    }

    fn exists<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<bool, HostError>> {
        Box::pin(async move { Ok(self.script.lock().unwrap().exists.contains(path)) })
    }

    fn reboot(&self) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async move { self.record("reboot".into()) })
    }

    fn hook(&self, name: &str) -> Option<PathBuf> {
        self.script.lock().unwrap().hooks.get(name).cloned()
    }

    fn log(&self, line: &str) {
        self.report.line(line);
    }
}

/// Describes a command; default values are omitted.
fn describe(command: &Command) -> Json {
    let mut call = JsonMap::new();
    call.insert("run".into(), command.display().into());
    if command.cwd != "/" {
        call.insert("cwd".into(), command.cwd.clone().into());
    }
    if !command.env.is_empty() {
        call.insert("env".into(), json!(command.env));
    }
    if let Some(input) = &command.stdin {
        call.insert("stdin".into(), String::from_utf8_lossy(input).into());
    }
    if command.effect == CommandEffect::Reads {
        call.insert("effect".into(), "reads".into());
    }
    if !command.scratch.is_empty() {
        let files = command
            .scratch
            .iter()
            .map(|file| (file.name.clone(), String::from_utf8_lossy(&file.data).into()));
        call.insert("scratch".into(), Json::Object(files.collect()));
    }
    if !command.collect.is_empty() {
        call.insert("collect".into(), json!(command.collect));
    }
    Json::Object(call)
}
