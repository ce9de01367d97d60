use stoker_client::encode_segment;

use super::find::{module_id, node_modules_path};
use crate::exit::Outcome;
use crate::remote::Remote;

/// Remove a module from a node and wait for completion
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker module remove 7 licence")]
pub(super) struct Args {
    /// Node ID or name
    #[arg(value_name = "NODE")]
    node: String,

    /// Module ID or name
    #[arg(value_name = "MODULE")]
    module: String,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let id = module_id(remote, &args.module)?;
    let path = node_modules_path(remote, &args.node)?;
    remote.delete(format!("{path}/{}", encode_segment(&id)))?;
    remote.note(&format!("removed module {} from node {}", args.module, args.node));
    Ok(())
}
