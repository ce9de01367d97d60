//! `stoker node`: nodes and their agents.

mod change;
mod find;
mod remove;
mod replace;
mod revoke;
mod show;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, SharedOptions};

/// Manage nodes
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
    Create(change::CreateArgs),
    Delete(change::DeleteArgs),
    List(show::ListArgs),
    Remove(remove::Args),
    Replace(replace::Args),
    Revoke(revoke::Args),
    Show(show::ShowArgs),
    Update(change::UpdateArgs),
    // end sorted
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    let remote = &mut remote;
    match &args.verb {
        Verb::Create(args) => change::create(args, remote),
        Verb::Delete(args) => change::delete(args, remote),
        Verb::List(args) => show::list(args, remote),
        Verb::Remove(args) => remove::run(args, remote),
        Verb::Replace(args) => replace::run(args, remote),
        Verb::Revoke(args) => revoke::run(args, remote),
        Verb::Show(args) => show::show(args, remote),
        Verb::Update(args) => change::update(args, remote),
    }
}
