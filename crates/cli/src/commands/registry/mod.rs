//! `stoker registry`: compatibility of components and plugins, without a server.

mod check;
mod eval;
mod matrix;
mod offline;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;

/// Check the compatibility of components and plugins, without a server
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    // sorted
    Check(check::Args),
    Eval(eval::Args),
    Matrix(matrix::Args),
    // end sorted
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    match &args.verb {
        Verb::Check(args) => check::run(args, printer),
        Verb::Eval(args) => eval::run(args, printer),
        Verb::Matrix(args) => matrix::run(args, printer),
    }
}
