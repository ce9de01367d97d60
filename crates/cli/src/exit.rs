//! Exit codes and the failures that produce them.

use std::io;
use std::path::Path;

use stoker_diagnostics::Diagnostic;
use stoker_model::ErrorChain;

/// Exit codes as shown by `stoker --help`; scripts rely on them.
pub(crate) const HELP: &str = "\
Exit codes:
  0  success
  1  failure: the request was rejected, a resource does not exist, or a run did not succeed
  2  invalid usage
  3  invalid or unreadable input: data, helper files, uploads
  4  the output could not be written
  5  a database, a server or a network address is unavailable
  6  partial: a run succeeded, but offline nodes were left out

`stoker plan --detailed-exitcode` exits with 0 without changes, 2 with changes, and 1 on any error.
`stoker drift` exits with 0 if all nodes are in sync, 2 if something drifted, and 1 on any error.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command ran and its result is negative.
    Failed,
    /// Invalid combination of arguments; clap uses the same code.
    Usage,
    /// An input could not be read or parsed.
    Input,
    /// Standard output or a file cannot be written.
    Output,
    /// A dependency is unavailable: a database, a server, a free port.
    Unavailable,
    /// A run succeeded, but offline nodes were left out.
    Partial,
    /// A plan has changes, and `--detailed-exitcode` was passed, or a node drifted.
    Changes,
    /// The reader of standard output closed the pipe, which is a normal end of a pipeline.
    BrokenPipe,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::BrokenPipe => 0,
            Self::Failed => 1,
            Self::Usage | Self::Changes => 2,
            Self::Input => 3,
            Self::Output => 4,
            Self::Unavailable => 5,
            Self::Partial => 6,
        }
    }
}

/// Failure of a command: its exit code and the diagnostics to print.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(exit: Exit, diagnostic: Diagnostic) -> Self {
        Self { exit, diagnostics: vec![diagnostic] }
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(Exit::Input, Diagnostic::plain(message))
    }

    pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Self {
        Self::new(Exit::Output, Diagnostic::plain(format!("cannot write `{}`: {error}", path.display())))
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, Diagnostic::plain(message))
    }

    /// Creates the failure for an invalid combination of arguments.
    pub(crate) fn usage(message: impl Into<String>, help: &str) -> Self {
        Self::new(Exit::Usage, Diagnostic::plain(message).help(help))
    }
}

impl Failure {
    /// Reports an error with its chain of sources.
    pub(crate) fn unavailable(error: &dyn std::error::Error) -> Self {
        Self::new(Exit::Unavailable, Diagnostic::plain(ErrorChain(error).to_string()))
    }
}

/// An I/O error without a file name comes from writing to standard output: readers of files report the file
/// name themselves.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::BrokenPipe, diagnostics: Vec::new() };
        }
        Self::new(Exit::Output, Diagnostic::plain(format!("cannot write the output: {error}")))
    }
}
