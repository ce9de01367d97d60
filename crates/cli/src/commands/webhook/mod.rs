//! `stoker webhook`: addresses that are told what happens.

mod create;
mod delete;
mod deliveries;
mod fields;
mod find;
mod list;
mod redeliver;
mod show;
mod test;
mod update;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Columns, Options, Remote, Shared};

/// Webhooks: addresses that are told what happens to runs and nodes; for admins
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: Shared,
}

#[derive(Debug, Subcommand)]
enum Verb {
    // sorted
    Create(create::Args),
    Delete(delete::Args),
    Deliveries(deliveries::Args),
    List(list::Args),
    Redeliver(redeliver::Args),
    Show(show::Args),
    Test(test::Args),
    Update(update::Args),
    // end sorted
}

const DELIVERY: Columns<'_> = &[
    ("id", "id"),
    ("topic", "topic"),
    ("status", "status"),
    ("attempts", "attempts"),
    ("answer", "answer"),
    ("created", "created_at"),
    ("tried", "tried_at"),
    ("next", "due_at"),
    ("problem", "problem"),
];

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    match &args.verb {
        Verb::Create(args) => create::run(args, &mut remote),
        Verb::Delete(args) => delete::run(args, &mut remote),
        Verb::Deliveries(args) => deliveries::run(args, &mut remote),
        Verb::List(args) => list::run(args, &mut remote),
        Verb::Redeliver(args) => redeliver::run(args, &mut remote),
        Verb::Show(args) => show::run(args, &mut remote),
        Verb::Test(args) => test::run(args, &mut remote),
        Verb::Update(args) => update::run(args, &mut remote),
    }
}
