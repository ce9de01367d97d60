//! Port between task types and the machine.
//!
//! A host belongs to one attempt: it reports the output of the attempt and ends its processes when the
//! attempt is stopped. Implementations: the real machine ([`real`]), a dry run that only reports actions
//! ([`noop`]), a wrapper that reports actions before executing them ([`verbose`]), and a recording fake in
//! the tests.

mod archive;
mod change;
mod command;
mod file_entry;
pub mod noop;
mod probe;
pub mod real;
mod stop;
mod unit;
pub mod verbose;

use std::path::{Path, PathBuf};
use std::pin::Pin;

pub use archive::ArchiveToUnpack;
pub use change::{FileOwner, FileToWrite, HostChange};
pub use command::{Command, CommandEffect, Exit, Program, ScratchFile, Status, shell_quote};
pub use file_entry::{FileEntry, FileKind};
pub use probe::{Probe, ProbeResult};
pub use stop::{StopReason, StopSender, StopSignal};
pub use unit::{UnitChange, UnitState};

/// Future returned by host operations.
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub trait Host: Send + Sync {
    /// Runs a program to completion; its output becomes output of the attempt.
    fn run(&self, command: Command) -> HostFuture<'_, Result<Exit, HostError>>;

    /// Runs a read-only program and returns its standard output, which does not become output of the attempt.
    fn query(&self, command: Command) -> HostFuture<'_, Result<QueryResult, HostError>>;

    fn change(&self, change: HostChange) -> HostFuture<'_, Result<(), HostError>>;

    /// Returns what is at a path; `None` if there is nothing. Follows a link.
    fn inspect<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>>;

    /// Like [`Host::inspect`], but does not follow a link at the end of the path.
    fn inspect_link<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>>;

    /// Reads a file of at most [`READ_BYTES_MAX`].
    fn read<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Vec<u8>, HostError>>;

    /// Returns the state of a unit of systemd. Starts no process.
    fn unit<'a>(&'a self, name: &'a str) -> HostFuture<'a, Result<UnitState, HostError>>;

    /// Asks the network once.
    fn probe<'a>(&'a self, probe: &'a Probe) -> HostFuture<'a, Result<ProbeResult, HostError>>;

    /// Reboots the machine. On success it normally does not return: the boot ID is in the journal, and the
    /// agent that starts after the reboot reports the success.
    fn reboot(&self) -> HostFuture<'_, Result<(), HostError>>;

    /// Returns the path of the operator's hook program for a site-specific operation.
    fn hook(&self, name: &str) -> Option<PathBuf>;

    /// Adds a line to the output of the attempt.
    fn log(&self, line: &str);
}

/// Maximum size of a file that [`Host::read`] returns.
pub const READ_BYTES_MAX: u64 = 64 << 20;

/// Result of a read-only program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryResult {
    pub status: Status,
    /// Standard output; truncated after [`QUERY_BYTES_MAX`].
    pub stdout: String,
    pub stderr: String,
}

/// Maximum size of the output of a query.
pub const QUERY_BYTES_MAX: usize = 4 << 20;

impl QueryResult {
    pub fn is_success(&self) -> bool {
        self.status == Status::Code(0)
    }
}

/// Error of a host operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The attempt was stopped; its processes have been ended.
    #[error("{0}")]
    Stopped(StopReason),
    /// The program could not be started.
    #[error("cannot start `{program}`: {reason}")]
    NotStarted { program: String, reason: String },
    #[error("cannot {operation} `{}`: {reason}", path.display())]
    File { operation: &'static str, path: PathBuf, reason: String },
    #[error("{0}")]
    Other(String),
}

impl HostError {
    pub(crate) fn file(operation: &'static str, path: &Path, reason: &dyn ToString) -> Self {
        Self::File { operation, path: path.to_owned(), reason: reason.to_string() }
    }
}
