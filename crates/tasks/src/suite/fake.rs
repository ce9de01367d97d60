//! Host in memory: it records calls, keeps files, and answers programs as scripted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;
use stoker_model::{Json, JsonMap};

use crate::host::{
    Command, CommandEffect, Exit, FileEntry, FileKind, FileOwner, Host, HostChange, HostError, HostFuture,
    QueryResult, Status, StopReason,
};
use crate::output::{Mask, OUTPUT_HEAD_TAIL_BYTES, OutputReport};

#[derive(Clone, Default)]
pub(super) struct Script {
    /// Results of programs of actions, in order.
    pub(super) exits: VecDeque<Exit>,
    pub(super) files: BTreeMap<PathBuf, FakeEntry>,
    pub(super) programs: Vec<FakeProgram>,
    pub(super) unwritable: BTreeSet<PathBuf>,
    pub(super) hooks: BTreeMap<String, PathBuf>,
    pub(super) secrets: Vec<String>,
    /// Stop reason returned by every call that takes time.
    pub(super) stops: Option<StopReason>,
    /// Number of changes after which the attempt is stopped.
    pub(super) stops_after: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FakeEntry {
    pub(super) content: FakeContent,
    pub(super) permissions: u32,
    pub(super) user: String,
    pub(super) group: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FakeContent {
    File(Vec<u8>),
    Directory,
    Link(PathBuf),
}

/// A program with an effect. Its state is in files.
#[derive(Clone, Debug)]
pub(super) struct FakeProgram {
    /// Command line.
    pub(super) command: String,
    pub(super) code: i32,
    pub(super) stderr: String,
    /// File whose content is the standard output.
    pub(super) output_of: Option<PathBuf>,
    /// Files that the program writes.
    pub(super) writes: BTreeMap<PathBuf, String>,
}

impl FakeEntry {
    pub(super) fn new(content: FakeContent) -> Self {
        let permissions = if content == FakeContent::Directory { 0o755 } else { 0o644 };
        Self { content, permissions, user: "root".to_owned(), group: "root".to_owned() }
    }

    pub(super) fn set_owner(&mut self, owner: FileOwner) {
        self.user = owner.user.unwrap_or(std::mem::take(&mut self.user));
        self.group = owner.group.unwrap_or(std::mem::take(&mut self.group));
    }
}

pub(super) struct FakeHost {
    script: Mutex<Script>,
    log: Arc<Log>,
    report: OutputReport,
}

/// Calls, output and files, available after the attempt.
#[derive(Default)]
pub(super) struct Log {
    pub(super) calls: Mutex<Vec<Json>>,
    /// Complete output of the attempt.
    pub(super) output: Mutex<String>,
    pub(super) files: Mutex<BTreeMap<PathBuf, FakeEntry>>,
}

impl FakeHost {
    pub(super) fn new(script: Script) -> (Self, Arc<Log>) {
        let log = Arc::new(Log { files: Mutex::new(script.files.clone()), ..Log::default() });
        let sink = Arc::clone(&log);
        let sink = move |_, _, text: String| sink.output.lock().push_str(&text);
        let report = OutputReport::new(&script.secrets, OUTPUT_HEAD_TAIL_BYTES, Box::new(sink));
        (Self { script: Mutex::new(script), log: Arc::clone(&log), report }, log)
    }

    pub(super) fn mask(&self) -> Mask {
        self.report.mask().clone()
    }

    fn record(&self, call: Json) -> Result<(), HostError> {
        self.log.calls.lock().push(call);
        match self.script.lock().stops {
            Some(reason) => Err(HostError::Stopped(reason)),
            None => Ok(()),
        }
    }

    /// Returns the scripted program with this command line.
    fn program(&self, command: &Command) -> Option<FakeProgram> {
        let line = command.display();
        self.script.lock().programs.iter().find(|program| program.command == line).cloned()
    }

    fn perform(&self, change: HostChange) -> Result<(), HostError> {
        let mut files = self.log.files.lock();
        match change {
            HostChange::Write(file) => {
                let mut entry = FakeEntry::new(FakeContent::File(file.data));
                entry.permissions = file.permissions;
                entry.set_owner(file.owner);
                files.insert(file.path, entry);
            }
            HostChange::Overwrite { path, data } => {
                files.insert(path, FakeEntry::new(FakeContent::File(data)));
            }
            HostChange::CreateDirectory { path, permissions } => {
                let directory = FakeEntry { permissions, ..FakeEntry::new(FakeContent::Directory) };
                files.insert(path, directory);
            }
            HostChange::SetPermissions { path, permissions } => {
                files.entry(path).and_modify(|entry| entry.permissions = permissions);
            }
            HostChange::SetOwner { path, owner } => {
                files.entry(path).and_modify(|entry| entry.set_owner(owner));
            }
            HostChange::Link { path, target } => {
                files.insert(path, FakeEntry::new(FakeContent::Link(target)));
            }
            HostChange::Remove(path) => {
                files.remove(&path);
            }
            HostChange::RemoveTree(path) => files.retain(|file, _| !file.starts_with(&path)),
            HostChange::Run(command) => {
                let Some(program) = self.program(&command) else { return Ok(()) };
                for (path, text) in program.writes {
                    files.insert(path, FakeEntry::new(FakeContent::File(text.into_bytes())));
                }
                if program.code != 0 {
                    let exit = Exit {
                        status: Status::Code(program.code),
                        stderr_tail: program.stderr,
                        ..Exit::default()
                    };
                    let message = format!("`{}` failed: {}", command.display(), exit.describe());
                    return Err(HostError::Other(message));
                }
            }
        }
        Ok(())
    }

    /// Counts a change and stops the attempt if it was the last one.
    fn count_change(&self) -> Result<(), HostError> {
        let mut script = self.script.lock();
        let Some(remaining) = script.stops_after.as_mut() else { return Ok(()) };
        *remaining = remaining.saturating_sub(1);
        if *remaining == 0 { Err(HostError::Stopped(StopReason::AgentShutdown)) } else { Ok(()) }
    }

    fn entry(&self, path: &Path) -> Option<FileEntry> {
        let files = self.log.files.lock();
        let FakeEntry { content, permissions, user, group } = files.get(path)?.clone();
        let kind = match content {
            FakeContent::File(data) => FileKind::File { n_bytes: data.len() as u64 },
            FakeContent::Directory => FileKind::Directory,
            FakeContent::Link(target) => FileKind::Link { target },
        };
        Some(FileEntry { kind, permissions, user, group, uid: 0, gid: 0 })
    }

    fn data(&self, path: &Path) -> Option<Vec<u8>> {
        match &self.log.files.lock().get(path)?.content {
            FakeContent::File(data) => Some(data.clone()),
            _ => None,
        }
    }
}

impl Host for FakeHost {
    fn run(&self, command: Command) -> HostFuture<'_, Result<Exit, HostError>> {
        let recorded = self.record(describe(&command));
        let exit = self.script.lock().exits.pop_front().unwrap_or_default();
        Box::pin(async move {
            recorded?;
            let masked = |text: String| self.report.mask().text(&text);
            Ok(Exit { stdout_tail: masked(exit.stdout_tail), stderr_tail: masked(exit.stderr_tail), ..exit })
        })
    }

    fn query(&self, command: Command) -> HostFuture<'_, Result<QueryResult, HostError>> {
        assert_eq!(command.effect, CommandEffect::Reads, "a query must be read-only: {}", command.display());
        Box::pin(async move {
            let Some(program) = self.program(&command) else { return Ok(QueryResult::default()) };
            let stdout = program.output_of.and_then(|path| self.data(&path)).unwrap_or_default();
            Ok(QueryResult {
                status: Status::Code(program.code),
                stdout: String::from_utf8_lossy(&stdout).into_owned(),
                stderr: program.stderr,
            })
        })
    }

    fn change(&self, change: HostChange) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async move {
            if let HostChange::Write(file) = &change
                && self.script.lock().unwritable.contains(&file.path)
            {
                return Err(HostError::file("write", &file.path, &"No space left on device"));
            }
            self.record(describe_change(&change))?;
            self.perform(change)?;
            self.count_change()
        })
    }

    fn inspect<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>> {
        Box::pin(async move {
            Ok(match self.entry(path) {
                Some(FileEntry { kind: FileKind::Link { target }, .. }) => self.entry(&target),
                entry => entry,
            })
        })
    }

    fn inspect_link<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>> {
        Box::pin(async move { Ok(self.entry(path)) })
    }

    fn read<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Vec<u8>, HostError>> {
        let missing = || HostError::file("read", path, &"No such file or directory");
        Box::pin(async move { self.data(path).ok_or_else(missing) })
    }

    fn reboot(&self) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async move { self.record("reboot".into()) })
    }

    fn hook(&self, name: &str) -> Option<PathBuf> {
        self.script.lock().hooks.get(name).cloned()
    }

    fn log(&self, line: &str) {
        self.report.line(line);
    }
}

/// Describes a change; default values are omitted.
fn describe_change(change: &HostChange) -> Json {
    let text = |path: &Path| path.display().to_string();
    let octal = |permissions: u32| format!("{permissions:04o}");
    match change {
        HostChange::Write(file) => {
            let mut call = json!({
                "write": text(&file.path),
                "data": String::from_utf8_lossy(&file.data),
                "permissions": octal(file.permissions),
            });
            if let Some(parents) = file.parents {
                call["parents"] = octal(parents).into();
            }
            if !file.owner.is_empty() {
                call["owner"] = file.owner.to_string().into();
            }
            if let Some(validate) = &file.validate {
                call["validate"] = validate.clone().into();
            }
            if file.keeps_backup {
                call["backup"] = true.into();
            }
            call
        }
        HostChange::Overwrite { path, data } => {
            json!({"overwrite": text(path), "data": String::from_utf8_lossy(data)})
        }
        HostChange::CreateDirectory { path, permissions } => {
            json!({"create_directory": text(path), "permissions": octal(*permissions)})
        }
        HostChange::SetPermissions { path, permissions } => {
            json!({"set_permissions": text(path), "permissions": octal(*permissions)})
        }
        HostChange::SetOwner { path, owner } => json!({"set_owner": text(path), "owner": owner.to_string()}),
        HostChange::Link { path, target } => json!({"link": text(path), "target": text(target)}),
        HostChange::Remove(path) => json!({"remove": text(path)}),
        HostChange::RemoveTree(path) => json!({"remove_tree": text(path)}),
        HostChange::Run(command) => describe(command),
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
