//! `stoker nats`: NATS for several servers and their agents.

mod init;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;

/// Set up NATS for communication between servers and agents
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Init(init::Args),
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    match &args.verb {
        Verb::Init(args) => init::run(args, printer),
    }
}
