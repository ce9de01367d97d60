//! `stoker release`: releases.

mod create;
mod delete;
mod list;
mod show;
mod update;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, SharedOptions};

/// Manage releases: versioned templates of clusters, with roles, settings and graphs
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
    List(list::Args),
    Show(show::Args),
    Update(update::Args),
    // end sorted
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    match &args.verb {
        Verb::Create(args) => create::run(args, &mut remote),
        Verb::Delete(args) => delete::run(args, &mut remote),
        Verb::List(_) => list::run(&mut remote),
        Verb::Show(args) => show::run(args, &mut remote),
        Verb::Update(args) => update::run(args, &mut remote),
    }
}
