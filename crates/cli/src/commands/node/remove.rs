use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use stoker_api_types::nodes::NodeView;

use super::find::find_nodes;
use crate::commands::env::unassign;
use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote};

/// Remove nodes from their clusters
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nodes that were never deployed leave immediately. Others are marked: the next run of their cluster executes the graph
`deletion` on them, if there is one, and then removes them. Removed nodes stay in the inventory; `stoker node delete` deletes
them.

Examples:
  stoker node remove db-1
  stoker node remove 5 web-3
  stoker node remove db-1 --now")]
pub(super) struct Args {
    /// Node IDs, names or host names
    #[arg(value_name = "NODE", required = true, value_delimiter = ',')]
    nodes: Vec<String>,

    /// Remove the nodes immediately, without the graph `deletion`
    #[arg(long)]
    now: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let nodes = find_nodes(remote, &args.nodes)?;
    let mut clusters: BTreeMap<i64, Vec<NodeView>> = BTreeMap::new();
    for node in &nodes {
        let Some(cluster) = node.cluster else {
            return Err(Failure::failed(format!("node {} ({}) belongs to no cluster", node.id, node.name)));
        };
        clusters.entry(cluster).or_default().push(node.clone());
    }
    for (cluster, members) in clusters {
        let ids: Vec<i64> = members.iter().map(|node| node.id).collect();
        let note = unassign(remote, cluster, &ids, &members, args.now)?;
        remote.note(&note);
    }
    if remote.format() == Format::Table {
        return Ok(());
    }
    let removed: Vec<Json> =
        nodes.iter().map(|node| json!({"id": node.id, "cluster": node.cluster})).collect();
    remote.data(&json!(removed))
}
