//! `stoker webhook`: HTTP notifications about runs and nodes.

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
use crate::remote::{Columns, Options, Remote, SharedOptions};

/// Manage webhooks: HTTP notifications about runs and nodes (administrators only)
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: SharedOptions,
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
    ("response", "answer"),
    ("created", "created_at"),
    ("last attempt", "tried_at"),
    ("next attempt", "due_at"),
    ("error", "problem"),
];

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
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
