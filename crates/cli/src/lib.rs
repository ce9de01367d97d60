//! The command line of Stoker.
//!
//! Owns the grammar of arguments, rendering and exit codes. The crates below contain the business logic.
//! Standard output carries data, standard error carries diagnostics and progress; see `printer`.
//!
//! A new command is a file `commands/<noun>/<verb>.rs` with its arguments and one function `run`, and one line in
//! the enumeration of its noun.

mod args;
#[cfg(test)]
mod command_lines;
mod commands;
mod configuration;
mod diagnostic;
mod environment;
mod exit;
mod host;
mod input;
mod output;
mod package;
mod printer;
mod programs;
mod remote;
mod runtime;
mod terminal;
mod text;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

pub use crate::environment::SECRET_VARIABLES;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
pub use crate::programs::{Programs, RotateModuleKeys, RunAgent, Serve};

/// Parses `arguments` (the first is the program name) and runs the command.
pub fn main(arguments: impl IntoIterator<Item = OsString>, programs: &Programs) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let codes = ExitCodes::of(&arguments);
    let expansion = match configuration::expand(arguments, args::command(), environment::variable) {
        Ok(expansion) => expansion,
        Err((failure, mut printer)) => return codes.of_failure(report(&failure, &mut printer)),
    };
    let parsed = args::command().try_get_matches_from(&expansion.arguments);
    let mut cli = match parsed.and_then(|matches| args::Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // clap prints help and version to standard output and errors to standard error.
            _ = error.print();
            let mut printer = Printer::new(clap::ColorChoice::Auto);
            for note in expansion.explain(&error) {
                printer.note(&format!("note: {note}"));
            }
            return codes.of_usage(error.exit_code() as u8);
        }
    };
    if let commands::Command::Serve(args) = &mut cli.command {
        args.admin_password = expansion.admin_password();
    }
    let mut printer = Printer::new(cli.color);
    match commands::run(cli.command, &cli.options, args::command, programs, &mut printer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => codes.of_failure(report(&failure, &mut printer)),
    }
}

/// Prints the diagnostics of a failure and returns its exit.
fn report(failure: &Failure, printer: &mut Printer) -> Exit {
    for diagnostic in &failure.diagnostics {
        printer.diagnostic(diagnostic);
    }
    failure.exit
}

/// Mapping of failures to exit codes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExitCodes {
    Ordinary,
    /// Code 2 means that a plan has changes or that a node drifted, so every error has code 1.
    Detailed,
}

impl ExitCodes {
    /// Decides by the raw arguments: they may be invalid.
    fn of(arguments: &[OsString]) -> Self {
        let is_detailed = arguments.iter().any(|argument| {
            argument.to_str().is_some_and(|argument| argument.starts_with("--detailed-exitcode"))
        });
        let words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
        let is_drift = words.into_iter().find(|word| !word.starts_with('-')) == Some("drift");
        if is_detailed || is_drift { Self::Detailed } else { Self::Ordinary }
    }

    fn of_failure(self, exit: Exit) -> ExitCode {
        ExitCode::from(match self {
            Self::Detailed if exit != Exit::Changes => 1,
            _ => exit.code(),
        })
    }

    /// Maps an exit code of clap, which is 0 for help.
    fn of_usage(self, code: u8) -> ExitCode {
        ExitCode::from(if self == Self::Detailed { code.min(1) } else { code })
    }
}
