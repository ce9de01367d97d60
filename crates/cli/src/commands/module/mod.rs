//! `stoker module`: payloads applied to nodes in a controlled order.

mod apply;
mod create;
mod delete;
mod fields;
mod find;
mod instances;
mod list;
mod reapply;
mod remove;
mod rotate_key;
mod show;
mod update;

use clap::Subcommand;

use crate::exit::Outcome;
use crate::printer::Printer;
use crate::programs::Programs;
use crate::remote::{Columns, Options, Remote, SharedOptions};

/// Manage modules: payloads such as licences or monitoring software, applied to nodes in a controlled order
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
    Apply(apply::Args),
    Create(create::Args),
    Delete(delete::Args),
    Instances(instances::Args),
    List(list::Args),
    Reapply(reapply::Args),
    Remove(remove::Args),
    RotateKey(rotate_key::Args),
    Show(show::Args),
    Update(update::Args),
    // end sorted
}

/// Base paths of the module API; the tenant comes from the token.
const MODULES: &str = "/v1.0/modules";
const INSTANCES: &str = "/v1.0/instances";

const RESULTS: Columns<'_> = &[
    ("name", "name"),
    ("type", "type"),
    ("status", "status"),
    ("message", "message"),
    ("md5", "md5"),
    ("updated", "updated"),
];

pub(crate) fn run(args: Args, earlier: &Options, programs: &Programs, printer: &mut Printer) -> Outcome {
    if let Verb::RotateKey(args) = args.verb {
        return rotate_key::run(args, programs, printer);
    }
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    match &args.verb {
        Verb::Apply(args) => apply::run(args, &mut remote),
        Verb::Create(args) => create::run(args, &mut remote),
        Verb::Delete(args) => delete::run(args, &mut remote),
        Verb::Instances(args) => instances::run(args, &mut remote),
        Verb::List(args) => list::run(args, &mut remote),
        Verb::Reapply(args) => reapply::run(args, &mut remote),
        Verb::Remove(args) => remove::run(args, &mut remote),
        // Returned before the connection was made: key rotation sends no request.
        Verb::RotateKey(_) => Ok(()),
        Verb::Show(args) => show::run(args, &mut remote),
        Verb::Update(args) => update::run(args, &mut remote),
    }
}
