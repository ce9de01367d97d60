//! How a command ends.

use std::io;

use crate::diagnostic::Diagnostic;

/// The part of `--help` that scripts read.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done
  1  the expression is wrong or failed, or what was asked for does not exist
  2  wrong usage
  3  an input could not be read or makes no sense: data, helper files, cases
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
    /// Standard output is not writable.
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
