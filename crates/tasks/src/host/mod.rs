//! The port between a task type and the machine it works on.
//!
//! A host belongs to one attempt: it knows where output goes, and it ends what it started when the attempt is stopped.
//! There is the real one ([`real`]), one that only says what would be done ([`noop`]), one that also says what is done
//! ([`telling`]), and a recording one for tests.

mod command;
pub mod noop;
pub mod real;
mod stop;
pub mod telling;

use std::path::{Path, PathBuf};
use std::pin::Pin;

pub use command::{Command, Effect, Exit, Program, ScratchFile, Status, single_quoted};
pub use stop::{Stop, StopReason, Stopper};

/// Work that a host does; it lives as long as what it was asked for.
pub type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub trait Host: Send + Sync {
    /// Runs a program to its end; what it prints goes where the attempt reports.
    fn run(&self, command: Command) -> Work<'_, Result<Exit, HostError>>;

    /// Puts a whole file in its place, or leaves everything as it was.
    fn write(&self, file: FileToWrite) -> Work<'_, Result<(), HostError>>;

    /// Whether something is at that path.
    fn exists<'a>(&'a self, path: &'a Path) -> Work<'a, Result<bool, HostError>>;

    /// Starts the machine anew. Returns only if that did not happen in the time of the attempt: the journal remembers the
    /// boot before, and the agent that comes up after it reports the success.
    fn reboot(&self) -> Work<'_, Result<(), HostError>>;

    /// The program that the operator gave for something only they know how to do.
    fn hook(&self, name: &str) -> Option<PathBuf>;

    /// A line about what is being done, among the output.
    fn say(&self, line: &str);
}

/// A file to be put in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToWrite {
    pub path: PathBuf,
    pub data: Vec<u8>,
    pub permissions: u32,
    /// Of folders that have to be made on the way; `None`: the folder must be there.
    pub parents: Option<u32>,
    pub owner: Option<Owner>,
}

/// Names of a user and a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub user: String,
    pub group: String,
}

/// Why a host did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The attempt was stopped; what had been started is ended.
    #[error("{0}")]
    Stopped(StopReason),
    /// A program could not even be started.
    #[error("cannot start `{program}`: {reason}")]
    NotStarted { program: String, reason: String },
    #[error("cannot {what} `{}`: {reason}", path.display())]
    File { what: &'static str, path: PathBuf, reason: String },
    #[error("{0}")]
    Other(String),
}

impl HostError {
    pub(crate) fn file(what: &'static str, path: &Path, reason: &dyn ToString) -> Self {
        Self::File { what, path: path.to_owned(), reason: reason.to_string() }
    }
}
