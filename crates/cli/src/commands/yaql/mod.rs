//! `stoker yaql`: the YAQL query language on the command line.

mod bench;
mod evaluate;
mod explain;
mod functions;
mod jsonl;
mod reference;
mod repl;
mod session;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;

/// Evaluate a YAQL expression
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = AFTER_HELP,
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Verb>,
    #[command(flatten)]
    evaluate: evaluate::Args,
}

const AFTER_HELP: &str = "\
Examples:
  stoker yaql '1 + 2'
  stoker yaql '$.nodes.where(controller in $.roles).name' --data cluster.yaml
  stoker yaql '$.len() > $n' --data - --var n=3 < list.json
  stoker yaql '$.nodes.select($.cpus).sum()' --data cluster.yaml --explain
  stoker yaql --data cluster.yaml -- '-$.offset'   (an expression that starts with `-`)

Exit codes:
  0  success
  1  the expression is invalid or its evaluation failed
  2  invalid usage
  3  invalid or unreadable data or helper files
  4  the output could not be written";

#[derive(Debug, Subcommand)]
enum Verb {
    // sorted
    Bench(bench::Args),
    Functions(functions::Args),
    Reference(reference::Args),
    Repl(repl::Args),
    // end sorted
}

pub(crate) fn run(args: Args, printer: &mut Printer) -> Outcome {
    match args.command {
        None if args.evaluate.jsonl => jsonl::run(printer),
        None => evaluate::run(&args.evaluate, printer),
        Some(Verb::Bench(args)) => bench::run(&args, printer),
        Some(Verb::Functions(args)) => functions::run(&args, printer),
        Some(Verb::Reference(_)) => reference::run(printer),
        Some(Verb::Repl(args)) => repl::run(&args, printer),
    }
}
