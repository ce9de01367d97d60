//! One folder for each noun, one file for each verb.

mod agent;
mod backup;
mod completions;
mod openapi;
mod plan;
mod serve;
mod task_types;
mod yaql;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::programs::Programs;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    // sorted
    Agent(agent::Args),
    Backup(backup::BackupArgs),
    Completions(completions::Args),
    Openapi(openapi::Args),
    Plan(plan::Args),
    Restore(backup::RestoreArgs),
    Serve(serve::Args),
    TaskTypes(task_types::Args),
    Yaql(yaql::Args),
    // end sorted
}

pub(crate) fn run(command: Command, programs: &Programs, printer: &mut Printer) -> Outcome {
    match command {
        Command::Agent(args) => agent::run(args, programs, printer),
        Command::Backup(args) => backup::backup(args, printer),
        Command::Completions(args) => completions::run(&args, printer),
        Command::Openapi(_) => openapi::run(programs, printer),
        Command::Plan(args) => plan::run(&args, printer),
        Command::Restore(args) => backup::restore(args, printer),
        Command::Serve(args) => serve::run(args, programs, printer),
        Command::TaskTypes(_) => task_types::run(printer),
        Command::Yaql(args) => yaql::run(args, printer),
    }
}
