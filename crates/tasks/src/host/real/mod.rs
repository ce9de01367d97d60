//! The machine this program runs on.
//!
//! A program that is started leads a process group of its own and carries the mark of its attempt in its environment. When the
//! attempt is stopped, everything of the group and everything that carries the mark is ended, also what has detached
//! itself. What an attempt leaves running when it ends by itself is left alone: starting daemons is what tasks do.

mod family;
mod files;
mod process;
mod pump;
mod scratch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Command, Exit, FileToWrite, Host, HostError, Status, Stop, Work};
use crate::output::Report;
pub use family::{Family, ProcessId, end_family};

/// What all attempts on a machine share.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Programs of the operator.
    pub hooks: BTreeMap<String, PathBuf>,
    /// Where private files of commands are put; only the agent's user can look into it.
    pub scratch: PathBuf,
    /// How long a program may take to end after it was asked to.
    pub grace: Duration,
    /// The file that says which boot this is.
    pub boot_id: PathBuf,
    /// What runs scripts.
    pub shell: PathBuf,
    /// Variables of the agent that are none of a task's business.
    pub hidden_env: Vec<String>,
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
        }
    }

    /// Which boot this is.
    pub fn read_boot_id(&self) -> Result<String, HostError> {
        let text = std::fs::read_to_string(&self.boot_id);
        text.map(|text| text.trim().to_owned())
            .map_err(|error| HostError::file("read", &self.boot_id, &error))
    }
}

/// Whoever remembers what an attempt did, so that somebody else can clean up or finish after a crash.
pub trait Memory: Send + Sync {
    /// A process runs now.
    fn started(&self, process: ProcessId);

    /// The process has ended, and how. Most have no use for it: what it means is up to the type of the task.
    fn ended(&self, _status: Status) {}

    /// The machine is about to go down. Returns when that is safe on disk.
    fn rebooting(&self, boot_id: String) -> Work<'_, Result<(), HostError>>;
}

/// The machine, for one attempt.
pub struct RealHost {
    pub machine: Arc<Machine>,
    pub report: Arc<Report>,
    pub stop: Stop,
    /// What every process of the attempt carries, and no other.
    pub mark: String,
    /// What processes get as `TRACEPARENT`, so that they can be followed too.
    pub trace: Option<String>,
    pub memory: Arc<dyn Memory>,
}

impl Host for RealHost {
    fn run(&self, command: Command) -> Work<'_, Result<Exit, HostError>> {
        Box::pin(process::run(self, command))
    }

    fn write(&self, file: FileToWrite) -> Work<'_, Result<(), HostError>> {
        Box::pin(async move {
            self.check_stop()?;
            blocking(move || files::write(&file)).await
        })
    }

    fn exists<'a>(&'a self, path: &'a Path) -> Work<'a, Result<bool, HostError>> {
        let path = path.to_owned();
        Box::pin(blocking(move || {
            path.try_exists().map_err(|error| HostError::file("look at", &path, &error))
        }))
    }

    fn reboot(&self) -> Work<'_, Result<(), HostError>> {
        Box::pin(self.reboot_and_wait())
    }

    fn hook(&self, name: &str) -> Option<PathBuf> {
        self.machine.hooks.get(name).cloned()
    }

    fn say(&self, line: &str) {
        self.report.line(line);
    }
}

/// How often it is looked whether this is another boot. Only a machine without a kernel of its own sees one and lives.
const BOOT_POLL: Duration = Duration::from_millis(500);

impl RealHost {
    fn check_stop(&self) -> Result<(), HostError> {
        self.stop.now().map_or(Ok(()), |reason| Err(HostError::Stopped(reason)))
    }

    async fn reboot_and_wait(&self) -> Result<(), HostError> {
        self.check_stop()?;
        let before = self.machine.read_boot_id()?;
        self.memory.rebooting(before.clone()).await?;
        let command = match self.hook("reboot") {
            Some(program) => Command::argv([program.display().to_string()]),
            None => Command::argv(["shutdown", "-r", "now"]),
        };
        let exit = self.run(command).await?;
        if !exit.is_success() {
            return Err(HostError::Other(format!("the node does not reboot: {}", exit.told())));
        }
        while self.machine.read_boot_id()? == before {
            tokio::select! {
                reason = self.stop.wait() => return Err(HostError::Stopped(reason)),
                () = tokio::time::sleep(BOOT_POLL) => {}
            }
        }
        Ok(())
    }
}

/// Short work with files, off the threads that everybody shares.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HostError> + Send + 'static,
) -> Result<T, HostError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(HostError::Other(error.to_string())))
}
