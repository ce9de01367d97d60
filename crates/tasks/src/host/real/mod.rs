//! Host implementation for the local machine.
//!
//! Each program runs in a separate process group, with the marker of its attempt in the environment. When the
//! attempt is stopped, all processes of the group and all processes with the marker are ended, including
//! detached ones. Processes that are still running when an attempt ends by itself are not ended: tasks may
//! start daemons.

mod family;
mod files;
mod network;
mod process;
mod pump;
mod scratch;
mod systemd;
mod unpack;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use stoker_model::ErrorChain;

use super::{
    Command, CommandEffect, Exit, FileEntry, FileToWrite, Host, HostChange, HostError, HostFuture, Probe,
    ProbeResult, QueryResult, Status, StopSignal, UnitChange, UnitState, shell_quote,
};
use crate::output::OutputReport;
pub use family::{ProcessId, ProcessTree, terminate_process_tree};
use systemd::{Systemd, UnitError};

/// Settings shared by all attempts on a machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Hook programs configured by the operator, by name.
    pub hooks: BTreeMap<String, PathBuf>,
    /// Parent directory of scratch directories; accessible only to the user of the agent.
    pub scratch: PathBuf,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// File with the boot ID of the machine.
    pub boot_id: PathBuf,
    /// Shell that runs scripts.
    pub shell: PathBuf,
    /// Environment variables of the agent that tasks do not inherit.
    pub hidden_env: Vec<String>,
    /// Connection to systemd, shared by all attempts.
    systemd: Systemd,
}

impl Machine {
    pub fn new(scratch: PathBuf) -> Self {
        let bash = PathBuf::from("/bin/bash");
        Self {
            hooks: BTreeMap::new(),
            scratch,
            grace: Duration::from_secs(5),
            boot_id: PathBuf::from("/proc/sys/kernel/random/boot_id"),
            shell: if bash.exists() { bash } else { PathBuf::from("/bin/sh") },
            hidden_env: Vec::new(),
            systemd: Systemd::default(),
        }
    }

    pub fn read_boot_id(&self) -> Result<String, HostError> {
        let text = std::fs::read_to_string(&self.boot_id);
        text.map(|text| text.trim().to_owned())
            .map_err(|error| HostError::file("read", &self.boot_id, &error))
    }
}

/// Record of the side effects of an attempt, used for cleanup and completion after a crash.
pub trait AttemptRecorder: Send + Sync {
    /// Records that a process was started. Returns when the record is queued; the output of the process is
    /// read afterwards.
    fn process_started(&self, process: ProcessId) -> HostFuture<'_, ()>;

    /// Records that a process has exited. Informational; the task type interprets the status.
    fn process_exited(&self, _status: Status) {}

    /// Records that the machine is about to reboot. Returns after the record is synced to disk.
    fn about_to_reboot(&self, boot_id: String) -> HostFuture<'_, Result<(), HostError>>;
}

/// The local machine, as host of one attempt.
pub struct LocalHost {
    pub machine: Arc<Machine>,
    pub report: Arc<OutputReport>,
    pub stop: StopSignal,
    /// Unique marker in the environment of every process of the attempt.
    pub marker: String,
    /// `TRACEPARENT` for processes, which lets them continue the trace.
    pub traceparent: Option<String>,
    pub recorder: Arc<dyn AttemptRecorder>,
}

impl Host for LocalHost {
    fn run(&self, command: Command) -> HostFuture<'_, Result<Exit, HostError>> {
        Box::pin(process::run(self, command))
    }

    fn query(&self, command: Command) -> HostFuture<'_, Result<QueryResult, HostError>> {
        Box::pin(process::query(self, command))
    }

    fn change(&self, change: HostChange) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async move {
            self.check_stop()?;
            match change {
                HostChange::Write(file) => self.write(file).await,
                HostChange::Run(command) => self.run_change(command).await,
                HostChange::Unit { name, change } => self.change_unit(&name, change).await,
                HostChange::ReloadUnits => self.machine.systemd.reload().await,
                HostChange::Unpack(archive) => {
                    let stop = self.stop.clone();
                    blocking(move || unpack::unpack(&archive, &stop)).await
                }
                other => blocking(move || files::change(&other)).await,
            }
        })
    }

    fn inspect<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>> {
        let path = path.to_owned();
        Box::pin(blocking(move || files::inspect(&path, std::fs::metadata(&path))))
    }

    fn inspect_link<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>> {
        let path = path.to_owned();
        Box::pin(blocking(move || files::inspect(&path, std::fs::symlink_metadata(&path))))
    }

    fn read<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Vec<u8>, HostError>> {
        let path = path.to_owned();
        Box::pin(blocking(move || files::read(&path)))
    }

    fn unit<'a>(&'a self, name: &'a str) -> HostFuture<'a, Result<UnitState, HostError>> {
        Box::pin(self.machine.systemd.unit(name))
    }

    fn probe<'a>(&'a self, probe: &'a Probe) -> HostFuture<'a, Result<ProbeResult, HostError>> {
        Box::pin(async move {
            tokio::select! {
                result = network::probe(probe.clone()) => result,
                reason = self.stop.wait() => Err(HostError::Stopped(reason)),
            }
        })
    }

    fn reboot(&self) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(self.reboot_and_wait())
    }

    fn hook(&self, name: &str) -> Option<PathBuf> {
        self.machine.hooks.get(name).cloned()
    }

    fn log(&self, line: &str) {
        self.report.line(line);
    }
}

/// Interval at which the boot ID is read. A process survives a change of the boot ID only on a machine
/// without a separate kernel, such as a container, and in tests.
const BOOT_POLL: Duration = Duration::from_millis(500);

impl LocalHost {
    fn check_stop(&self) -> Result<(), HostError> {
        self.stop.reason().map_or(Ok(()), |reason| Err(HostError::Stopped(reason)))
    }

    /// Writes a file; the content is validated before it becomes visible.
    async fn write(&self, file: FileToWrite) -> Result<(), HostError> {
        let validate = file.validate.clone();
        let prepared = blocking(move || files::prepare(&file)).await?;
        if let Some(command) = validate {
            let path = shell_quote(&prepared.temporary_path().display().to_string());
            let exit = self.run(Command::script(command.replace("%s", &path))).await?;
            if !exit.is_success() {
                return Err(HostError::Other(format!(
                    "`{command}` refuses the new content of `{}`, which was not changed: {}",
                    prepared.path().display(),
                    exit.describe()
                )));
            }
        }
        blocking(move || prepared.persist()).await
    }

    /// Changes a unit. A stop of the attempt does not cancel the job of systemd.
    async fn change_unit(&self, name: &str, change: UnitChange) -> Result<(), HostError> {
        let changed = tokio::select! {
            changed = self.machine.systemd.change(name, change) => changed,
            reason = self.stop.wait() => return Err(HostError::Stopped(reason)),
        };
        let message = match changed {
            Ok(()) => return Ok(()),
            Err(UnitError::Other(error)) => return Err(error),
            Err(UnitError::Failed(message)) => message,
        };
        let journal = ["journalctl", "--quiet", "--no-pager", "--output=cat", "--lines=10", "--unit", name];
        let journal = Command::argv(journal).effect(CommandEffect::Reads);
        // The journal is an addition: a node may have none.
        let lines = process::query(self, journal).await.map(|result| result.stdout).unwrap_or_default();
        for line in lines.lines() {
            self.report.line(line);
        }
        let last: Vec<&str> = lines.lines().rev().take(3).collect();
        if last.is_empty() {
            return Err(HostError::Other(message));
        }
        let last = last.into_iter().rev().collect::<Vec<_>>().join(" | ");
        Err(HostError::Other(format!("{message}; its journal ends with: {last}")))
    }

    async fn run_change(&self, command: Command) -> Result<(), HostError> {
        let text = command.display();
        let exit = self.run(command).await?;
        if exit.is_success() {
            return Ok(());
        }
        Err(HostError::Other(format!("`{text}` failed: {}", exit.describe())))
    }

    async fn reboot_and_wait(&self) -> Result<(), HostError> {
        self.check_stop()?;
        let previous_boot_id = self.machine.read_boot_id()?;
        self.recorder.about_to_reboot(previous_boot_id.clone()).await?;
        let command = match self.hook("reboot") {
            Some(program) => Command::argv([program.display().to_string()]),
            None => Command::argv(["shutdown", "-r", "now"]),
        };
        let exit = self.run(command).await?;
        if !exit.is_success() {
            return Err(HostError::Other(format!("cannot reboot the node: {}", exit.describe())));
        }
        while self.machine.read_boot_id()? == previous_boot_id {
            tokio::select! {
                reason = self.stop.wait() => return Err(HostError::Stopped(reason)),
                () = tokio::time::sleep(BOOT_POLL) => {}
            }
        }
        Ok(())
    }
}

/// Runs blocking file operations off the async worker threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HostError> + Send + 'static,
) -> Result<T, HostError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(HostError::Other(ErrorChain(&error).to_string())))
}
