//! `stoker run`: runs and their control.

mod board;
mod control;
mod follow;
mod list;
mod logs;
mod options;
mod progress;
mod show;
mod watch;

use clap::Subcommand;

pub(crate) use self::follow::report_started;
pub(crate) use self::options::{RolloutOptions, RunOptions};
pub(crate) use self::progress::{duration, node_key, unix_time};
pub(crate) use self::show::elapsed;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, SharedOptions};

/// List, follow and control runs
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
    Delete(control::DeleteArgs),
    List(list::Args),
    Logs(logs::Args),
    Pause(control::PauseArgs),
    Resume(control::ResumeArgs),
    Retry(control::RetryArgs),
    Show(show::Args),
    Stop(control::StopArgs),
    Watch(watch::Args),
    // end sorted
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    match &args.verb {
        Verb::Delete(args) => control::delete(args, &mut remote),
        Verb::List(args) => list::run(args, &mut remote),
        Verb::Logs(args) => logs::run(args, &mut remote),
        Verb::Pause(args) => control::pause(args, &mut remote),
        Verb::Resume(args) => control::resume(args, &mut remote),
        Verb::Retry(args) => control::retry(args, &mut remote),
        Verb::Show(args) => show::run(args, &mut remote),
        Verb::Stop(args) => control::stop(args, &mut remote),
        Verb::Watch(args) => watch::run(args, &mut remote),
    }
}
