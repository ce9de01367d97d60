use serde_json::{Value as Json, json};
use stoker_client::Method;

use super::find::find_nodes;
use crate::exit::Outcome;
use crate::remote::{Format, Remote};

/// Prepare nodes for another machine
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Revokes the agent of each node and invalidates everything that was applied to its machine. A node of a cluster keeps its
roles and becomes a newly assigned node: the next run executes all of its tasks. Start the agent of the new machine with the
name of the node and a token of `stoker join-token create --may-replace`.

Examples:
  stoker node replace db-1
  stoker node replace 5 6")]
pub(super) struct Args {
    /// Node IDs, names or host names
    #[arg(value_name = "NODE", required = true, value_delimiter = ',')]
    nodes: Vec<String>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let nodes = find_nodes(remote, &args.nodes)?;
    let mut replaced: Vec<Json> = Vec::new();
    for node in &nodes {
        replaced.push(remote.send_json(Method::Post, format!("nodes/{}/replace", node.id), &json!({}))?);
        remote.note(&format!("node {} ({}) waits for its new machine", node.id, node.name));
    }
    if remote.format() == Format::Table {
        remote.note("create a join token with `stoker join-token create --may-replace`");
        return Ok(());
    }
    remote.data(&json!(replaced))
}
