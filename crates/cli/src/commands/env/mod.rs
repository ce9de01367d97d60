//! `stoker env` (alias `stoker cluster`): clusters.

mod change;
mod deploy;
mod env_arg;
mod members;
mod release_move;
mod show;

use clap::Subcommand;

pub(crate) use self::env_arg::EnvArg;
pub(crate) use self::members::unassign;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, SharedOptions};

/// Manage clusters (also called environments)
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
    Add(members::AddArgs),
    Create(change::CreateArgs),
    Delete(change::DeleteArgs),
    Deploy(deploy::DeployArgs),
    List(show::ListArgs),
    Redeploy(deploy::RedeployArgs),
    Remove(members::RemoveArgs),
    Reset(deploy::ResetArgs),
    Settings(super::settings::Nested),
    Show(show::ShowArgs),
    Stop(deploy::StopArgs),
    Update(change::UpdateArgs),
    // end sorted
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    let remote = &mut remote;
    match &args.verb {
        Verb::Add(args) => members::add(args, remote),
        Verb::Create(args) => change::create(args, remote),
        Verb::Delete(args) => change::delete(args, remote),
        Verb::Deploy(args) => deploy::deploy(args, remote),
        Verb::List(_) => show::list(remote),
        Verb::Redeploy(args) => deploy::redeploy(args, remote),
        Verb::Remove(args) => members::remove(args, remote),
        Verb::Reset(args) => deploy::reset(args, remote),
        Verb::Settings(nested) => super::settings::run_nested(nested, remote),
        Verb::Show(args) => show::show(args, remote),
        Verb::Stop(args) => deploy::stop(args, remote),
        Verb::Update(args) => change::update(args, remote),
    }
}
