//! How a command ends.

use std::io;
use std::path::Path;

use crate::diagnostic::Diagnostic;

/// The part of `--help` that scripts read.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done
  1  it failed or was refused: a thing is not there, a run did not succeed
  2  wrong usage
  3  an input cannot be read or makes no sense: data, helper files, uploads
  4  the output could not be written
  5  a database, a server or an address is not available";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for has no answer.
    Failed = 1,
    /// Arguments that do not go together; clap uses the same code.
    Usage = 2,
    /// Something to be read could not be read or understood.
    Input = 3,
    /// Standard output or a file is not writable.
    Output = 4,
    /// Something that has to be there is not: a database, a server, a free port.
    Unavailable = 5,
    /// Nobody reads the output any more, which is how pipelines end.
    Unread = 0,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// Why a command did not do what it was asked for.
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
        Self::new(Exit::Input, Diagnostic::error(message))
    }

    /// A file could not be written.
    pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Self {
        Self::new(Exit::Output, Diagnostic::error(format!("cannot write `{}`: {error}", path.display())))
    }

    /// What was asked for was not done, for this reason.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, Diagnostic::error(message))
    }

    /// Arguments that do not go together.
    pub(crate) fn usage(message: impl Into<String>, help: &str) -> Self {
        Self::new(Exit::Usage, Diagnostic::error(message).help(Some(help.to_owned())))
    }
}

impl Failure {
    /// With everything that caused it.
    pub(crate) fn unavailable(error: &dyn std::error::Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Self::new(Exit::Unavailable, Diagnostic::error(message))
    }
}

/// Only printing fails with a bare error; whoever reads knows the name of the file and says so.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Unread, diagnostics: Vec::new() };
        }
        Self::new(Exit::Output, Diagnostic::error(format!("cannot write the output: {error}")))
    }
}
