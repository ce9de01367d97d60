//! `stoker plugin`: plugins and their packages.

mod build;
mod check;
mod create;
mod disable;
mod enable;
mod find;
mod install;
mod list;
mod order;
mod remove;
mod show;
mod sync;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, SharedOptions};

/// Create, check, build, install and enable plugins
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    // sorted
    Build(build::Args),
    Check(check::Args),
    Create(create::Args),
    Disable(disable::Args),
    Enable(enable::Args),
    Install(install::Args),
    List(list::Args),
    Order(order::Args),
    Remove(remove::Args),
    Show(show::Args),
    Sync(sync::Args),
    // end sorted
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    match &args.verb {
        Verb::Disable(args) => disable::run(args, &mut connect(&args.options, earlier, printer)?),
        Verb::Enable(args) => enable::run(args, &mut connect(&args.options, earlier, printer)?),
        Verb::Install(args) => install::run(args, &mut connect(&args.options, earlier, printer)?),
        Verb::List(args) => list::run(&mut connect(&args.options, earlier, printer)?),
        Verb::Order(args) => order::run(args, &mut connect(&args.options, earlier, printer)?),
        Verb::Remove(args) => remove::run(args, &mut connect(&args.options, earlier, printer)?),
        Verb::Show(args) => show::run(args, &mut connect(&args.options, earlier, printer)?),
        Verb::Sync(args) => sync::run(args, &mut connect(&args.options, earlier, printer)?),
        Verb::Build(args) => build::run(args, printer),
        Verb::Check(args) => check::run(args, printer),
        Verb::Create(args) => create::run(args, printer),
    }
}

fn connect<'p>(options: &SharedOptions, earlier: &Options, printer: &'p mut Printer) -> Outcome<Remote<'p>> {
    Remote::connect(&options.merge(earlier), printer)
}
