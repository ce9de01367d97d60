//! The command line of Stoker.
//!
//! Owns arguments, rendering and exit codes, and decides nothing else: what a command computes comes from the
//! crates beneath. Standard output is data, standard error is for people; see `printer`.
//!
//! A new command is a file `commands/<noun>/<verb>.rs` with its arguments and one function `run`, and one line in
//! the enumeration of its noun.

mod args;
mod commands;
mod diagnostic;
#[cfg(test)]
mod documented;
mod environment;
mod exit;
mod host;
mod input;
mod output;
mod package;
mod printer;
mod programs;
mod remote;
mod render;
mod runtime;
mod terminal;
mod text;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

pub use crate::environment::SECRET_VARIABLES;
use crate::exit::Failure;
use crate::printer::Printer;
pub use crate::programs::{Programs, RotateModuleKeys, RunAgent, Serve};

/// Runs the program with these arguments, the name of the program being the first.
pub fn main(arguments: impl IntoIterator<Item = OsString>, programs: &Programs) -> ExitCode {
    let parsed = args::command().try_get_matches_from(arguments);
    let cli = match parsed.and_then(|matches| args::Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, anything else is a complaint; clap knows where each belongs.
            _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let mut printer = Printer::new(cli.color);
    match commands::run(cli.command, &cli.options, programs, &mut printer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ExitCode::from(tell(&failure, &mut printer)),
    }
}

/// Shows why a command failed and returns its exit code.
fn tell(failure: &Failure, printer: &mut Printer) -> u8 {
    for diagnostic in &failure.diagnostics {
        printer.diagnostic(diagnostic);
    }
    failure.exit.code()
}
