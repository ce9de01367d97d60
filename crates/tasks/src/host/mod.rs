//! Port between task types and the machine.
//!
//! A host belongs to one attempt: it reports the output of the attempt and ends its processes when the
//! attempt is stopped. Implementations: the real machine ([`real`]), a dry run that only reports actions
//! ([`noop`]), a wrapper that reports actions before executing them ([`verbose`]), and a recording fake in
//! the tests.

mod command;
pub mod noop;
pub mod real;
mod stop;
pub mod verbose;

use std::path::{Path, PathBuf};
use std::pin::Pin;

pub use command::{Command, CommandEffect, Exit, Program, ScratchFile, Status, shell_quote};
pub use stop::{StopReason, StopSender, StopSignal};

/// Future returned by host operations.
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub trait Host: Send + Sync {
    /// Runs a program to completion; its output becomes output of the attempt.
    fn run(&self, command: Command) -> HostFuture<'_, Result<Exit, HostError>>;

    /// Replaces a file atomically.
    fn write(&self, file: FileToWrite) -> HostFuture<'_, Result<(), HostError>>;

    /// Reports whether the path exists.
    fn exists<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<bool, HostError>>;

    /// Reboots the machine. On success it normally does not return: the boot ID is in the journal, and the
    /// agent that starts after the reboot reports the success.
    fn reboot(&self) -> HostFuture<'_, Result<(), HostError>>;

    /// Returns the path of the operator's hook program for a site-specific operation.
    fn hook(&self, name: &str) -> Option<PathBuf>;

    /// Adds a line to the output of the attempt.
    fn log(&self, line: &str);
}

/// File to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToWrite {
    pub path: PathBuf,
    pub data: Vec<u8>,
    pub permissions: u32,
    /// Mode of missing parent directories, which are created; `None` means that the directory must exist.
    pub parents: Option<u32>,
    pub owner: Option<FileOwner>,
}

/// User and group names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOwner {
    pub user: String,
    pub group: String,
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
