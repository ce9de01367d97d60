//! `stoker graph`: task graphs and their layers.

mod check;
mod delete;
mod diff;
mod download;
mod execute;
mod gather;
mod list;
mod local;
mod owner;
mod show;
mod summary;
mod upload;

use clap::Subcommand;

pub(crate) use self::local::{find_field, in_file};
pub(crate) use self::summary::{Reported, summarize};
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, SharedOptions};

/// Manage task graphs of releases, clusters and plugins
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
    Check(check::Args),
    Delete(delete::Args),
    Diff(diff::Args),
    Download(download::Args),
    Execute(execute::Args),
    List(list::Args),
    Show(show::Args),
    Upload(upload::Args),
    // end sorted
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    match &args.verb {
        Verb::Check(args) => check::run(args, &mut remote),
        Verb::Delete(args) => delete::run(args, &mut remote),
        Verb::Diff(args) => diff::run(args, &mut remote),
        Verb::Download(args) => download::run(args, &mut remote),
        Verb::Execute(args) => execute::run(args, &mut remote),
        Verb::List(args) => list::run(args, &mut remote),
        Verb::Show(args) => show::run(args, &mut remote),
        Verb::Upload(args) => upload::run(args, &mut remote),
    }
}
