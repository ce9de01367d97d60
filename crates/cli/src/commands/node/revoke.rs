use crate::exit::Outcome;
use crate::remote::Remote;

/// Cut nodes off: credential and certificates of their agents are no longer good, from now on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The nodes stay known. Runs give them up as if they were away. To let an agent of such a node in again, make a token
with `stoker join-token create --may-replace`.

Examples:
  stoker node revoke 5
  stoker node revoke 5 6 7")]
pub(super) struct Args {
    /// Ids of the nodes
    #[arg(value_name = "NODE", required = true, value_delimiter = ',')]
    nodes: Vec<i64>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    for id in &args.nodes {
        remote.delete(format!("nodes/{id}/agent"))?;
        remote.note(&format!("cut off node {id}"));
    }
    Ok(())
}
