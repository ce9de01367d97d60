//! Host in memory: it records calls, keeps files, and answers programs as scripted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::json;
use stoker_model::{Json, JsonMap};

use crate::host::{
    ArchiveToUnpack, Command, CommandEffect, Exit, FileEntry, FileKind, FileOwner, FileToWrite, Host,
    HostChange, HostError, HostFuture, Probe, ProbeResult, QueryResult, Status, StopReason, UnitChange,
    UnitState,
};
use crate::output::{Mask, OUTPUT_HEAD_TAIL_BYTES, OutputReport};

#[derive(Clone, Default)]
pub(super) struct Script {
    /// Results of programs of actions, in order.
    pub(super) exits: VecDeque<Exit>,
    pub(super) files: BTreeMap<PathBuf, FakeEntry>,
    pub(super) programs: Vec<FakeProgram>,
    pub(super) units: BTreeMap<String, FakeUnit>,
    pub(super) probes: BTreeMap<String, bool>,
    pub(super) unwritable: BTreeSet<PathBuf>,
    pub(super) hooks: BTreeMap<String, PathBuf>,
    pub(super) secrets: Vec<String>,
    /// Stop reason returned by every call that takes time.
    pub(super) stops: Option<StopReason>,
    /// The host call at which the agent dies, counted from 0.
    pub(super) dies_at: Option<(usize, Death)>,
    /// The change that fails, counted from 0.
    pub(super) fails_at: Option<usize>,
}

/// When an agent dies, relative to a host call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Death {
    Before,
    /// In the middle of a change, as far as it can be seen: a temporary file stays, or a part of a directory.
    Within,
    After,
}

/// Temporary file that a death leaves.
pub(super) const TEMPORARY: &str = ".stoker-temporary";

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

/// A unit of systemd.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FakeUnit {
    pub(super) state: UnitState,
    /// Whether its program fails at each start.
    pub(super) fails: bool,
}

impl FakeUnit {
    fn change(&mut self, name: &str, change: UnitChange) -> Result<(), HostError> {
        let state = &mut self.state;
        let text =
            |(load, active, file): (&str, &str, &str)| (load.to_owned(), active.to_owned(), file.to_owned());
        let new = match change {
            UnitChange::Start | UnitChange::Restart | UnitChange::Reload if self.fails => {
                state.active = "failed".to_owned();
                return Err(HostError::Other(format!("`{name}` failed; its journal ends with: no port")));
            }
            UnitChange::Start | UnitChange::Restart | UnitChange::Reload => {
                ("loaded", "active", &*state.file)
            }
            UnitChange::Stop => (&*state.load, "inactive", &*state.file),
            UnitChange::Enable => (&*state.load, &*state.active, "enabled"),
            UnitChange::Disable => (&*state.load, &*state.active, "disabled"),
            UnitChange::Mask => ("masked", &*state.active, "masked"),
            UnitChange::Unmask => ("loaded", &*state.active, "disabled"),
        };
        (state.load, state.active, state.file) = text(new);
        Ok(())
    }
}

/// What an attempt of a dead agent ends with.
const DEAD: HostError = HostError::Stopped(StopReason::AgentShutdown);

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
    n_calls: AtomicUsize,
    n_changes: AtomicUsize,
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
    pub(super) units: Mutex<BTreeMap<String, FakeUnit>>,
    pub(super) n_calls: Mutex<usize>,
}

impl Script {
    /// The same machine after an attempt.
    pub(super) fn after(self, log: &Log) -> Self {
        Self { files: log.files.lock().clone(), units: log.units.lock().clone(), ..self }
    }
}

impl Log {
    /// Files and units, without temporary files.
    pub(super) fn state(&self) -> (BTreeMap<PathBuf, FakeEntry>, BTreeMap<String, FakeUnit>) {
        let mut files = self.files.lock().clone();
        files.retain(|path, _| !path.ends_with(TEMPORARY));
        (files, self.units.lock().clone())
    }
}

impl FakeHost {
    pub(super) fn new(script: Script) -> (Self, Arc<Log>) {
        let (files, units) = (Mutex::new(script.files.clone()), Mutex::new(script.units.clone()));
        let log = Arc::new(Log { files, units, ..Log::default() });
        let sink = Arc::clone(&log);
        let sink = move |_, _, text: String| sink.output.lock().push_str(&text);
        let report = OutputReport::new(&script.secrets, OUTPUT_HEAD_TAIL_BYTES, Box::new(sink));
        let (n_calls, n_changes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        (Self { script: Mutex::new(script), n_calls, n_changes, log: Arc::clone(&log), report }, log)
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
            HostChange::Unpack(archive) => {
                files.retain(|file, _| !file.starts_with(&archive.dest));
                let mut folder = FakeEntry::new(FakeContent::Directory);
                folder.set_owner(archive.owner.clone());
                let marker = FakeEntry::new(FakeContent::File(archive.marker().into_bytes()));
                files.insert(archive.dest.join(ArchiveToUnpack::MARKER), marker);
                files.insert(archive.dest, folder);
            }
            HostChange::Unit { name, change } => {
                return self.log.units.lock().entry(name.clone()).or_default().change(&name, change);
            }
            HostChange::ReloadUnits => {
                self.log.units.lock().values_mut().for_each(|unit| unit.state.needs_reload = false);
            }
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

    /// Counts a host call; returns when the agent dies at it.
    fn count_call(&self) -> Option<Death> {
        let call = self.n_calls.fetch_add(1, Ordering::Relaxed);
        *self.log.n_calls.lock() = call + 1;
        let (at, death) = self.script.lock().dies_at?;
        (at == call).then_some(death)
    }

    /// A call that only reads.
    fn reads(&self) -> Result<(), HostError> {
        self.count_call().map_or(Ok(()), |_| Err(DEAD))
    }

    fn perform_until(&self, change: HostChange, death: Option<Death>) -> Result<(), HostError> {
        match death {
            None => self.perform(change),
            Some(Death::Before) => Err(DEAD),
            Some(Death::After) => self.perform(change).and(Err(DEAD)),
            Some(Death::Within) => {
                let mut files = self.log.files.lock();
                match change {
                    HostChange::Write(file) => {
                        let temporary = file.path.with_file_name(TEMPORARY);
                        files.insert(temporary, FakeEntry::new(FakeContent::File(Vec::new())));
                    }
                    HostChange::RemoveTree(root) => {
                        files.retain(|path, _| *path == root || !path.starts_with(&root));
                    }
                    _ => {}
                }
                Err(DEAD)
            }
        }
    }

    /// The error of a change that is scripted to fail.
    fn failure(&self, change: &HostChange) -> Option<HostError> {
        let at = self.n_changes.fetch_add(1, Ordering::Relaxed);
        (self.script.lock().fails_at == Some(at)).then(|| {
            let path = match change {
                HostChange::Write(FileToWrite { path, .. })
                | HostChange::Overwrite { path, .. }
                | HostChange::CreateDirectory { path, .. }
                | HostChange::SetPermissions { path, .. }
                | HostChange::SetOwner { path, .. }
                | HostChange::Link { path, .. }
                | HostChange::Remove(path)
                | HostChange::RemoveTree(path) => path,
                HostChange::Unpack(archive) => &archive.dest,
                HostChange::Unit { .. } | HostChange::ReloadUnits | HostChange::Run(_) => {
                    return HostError::Other(format!("cannot `{change}`: Input/output error"));
                }
            };
            HostError::file("change", path, &"Input/output error")
        })
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
            self.reads()?;
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
            let death = self.count_call();
            if death != Some(Death::Before) {
                self.record(describe_change(&change))?;
            }
            match self.failure(&change) {
                Some(error) => Err(error),
                None => self.perform_until(change, death),
            }
        })
    }

    fn inspect<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>> {
        Box::pin(async move {
            self.reads()?;
            Ok(match self.entry(path) {
                Some(FileEntry { kind: FileKind::Link { target }, .. }) => self.entry(&target),
                entry => entry,
            })
        })
    }

    fn inspect_link<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>> {
        Box::pin(async move {
            self.reads()?;
            Ok(self.entry(path))
        })
    }

    fn read<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Vec<u8>, HostError>> {
        let missing = || HostError::file("read", path, &"No such file or directory");
        Box::pin(async move {
            self.reads()?;
            self.data(path).ok_or_else(missing)
        })
    }

    fn unit<'a>(&'a self, name: &'a str) -> HostFuture<'a, Result<UnitState, HostError>> {
        let state = self.log.units.lock().get(name).map(|unit| unit.state.clone());
        let missing =
            || UnitState { load: "not-found".into(), active: "inactive".into(), ..UnitState::default() };
        Box::pin(async move {
            self.reads()?;
            Ok(state.unwrap_or_else(missing))
        })
    }

    fn probe<'a>(&'a self, probe: &'a Probe) -> HostFuture<'a, Result<ProbeResult, HostError>> {
        let name = match probe {
            Probe::Port { host, port } => format!("{host}:{port}"),
            Probe::Url { url, status } => format!("{url} {status}"),
        };
        let is_met = self.script.lock().probes.get(&name).copied().unwrap_or_default();
        let finding = format!("{name} is {}", if is_met { "open" } else { "closed" });
        Box::pin(async move { Ok(ProbeResult { is_met, finding }) })
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
        HostChange::Unpack(archive) => {
            let mut call =
                json!({"unpack": archive.source, "dest": text(&archive.dest), "marker": archive.marker()});
            if !archive.owner.is_empty() {
                call["owner"] = archive.owner.to_string().into();
            }
            call
        }
        HostChange::Unit { name, change } => json!({change.to_string(): name}),
        HostChange::ReloadUnits => "reload_units".into(),
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
