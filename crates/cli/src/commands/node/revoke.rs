use crate::exit::Outcome;
use crate::remote::Remote;

/// Revoke agent credentials and certificates of nodes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The agents are disconnected immediately and runs treat the nodes as offline; the nodes stay in the inventory. To let an
agent of a revoked node join again, create a token with `stoker join-token create --may-replace`.

Examples:
  stoker node revoke 5
  stoker node revoke 5 6 7")]
pub(super) struct Args {
    /// Node IDs
    #[arg(value_name = "NODE", required = true, value_delimiter = ',')]
    nodes: Vec<i64>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    for id in &args.nodes {
        remote.delete(format!("nodes/{id}/agent"))?;
        remote.note(&format!("revoked the agent of node {id}"));
    }
    Ok(())
}
