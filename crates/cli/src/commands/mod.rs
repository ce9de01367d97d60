//! One folder for each noun, one file for each verb.

mod completions;
mod yaql;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    // sorted
    Completions(completions::Args),
    Yaql(yaql::Args),
    // end sorted
}

pub(crate) fn run(command: Command, printer: &mut Printer) -> Outcome {
    match command {
        Command::Completions(args) => completions::run(&args, printer),
        Command::Yaql(args) => yaql::run(args, printer),
    }
}
