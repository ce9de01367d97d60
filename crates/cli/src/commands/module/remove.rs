use stoker_client::segment;

use super::find::{carried_path, module};
use crate::exit::Outcome;
use crate::remote::Remote;

/// Remove a module from a node, and wait for the end
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker module remove 7 licence")]
pub(super) struct Args {
    /// Id or name of the node
    #[arg(value_name = "NODE")]
    node: String,

    /// Id or name of the module
    #[arg(value_name = "MODULE")]
    module: String,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let id = module(remote, &args.module)?;
    let path = carried_path(remote, &args.node)?;
    remote.delete(format!("{path}/{}", segment(&id)))?;
    remote.note(&format!("removed module {} from node {}", args.module, args.node));
    Ok(())
}
