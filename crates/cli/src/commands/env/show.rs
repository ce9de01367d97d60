use stoker_api_types::nodes::NodeView;
use stoker_client::RestRequest;

use super::EnvArg;
use crate::exit::Outcome;
use crate::remote::{Format, Remote, set};

/// List clusters
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env list
  stoker env list --output json")]
pub(super) struct ListArgs {}

/// Show a cluster and its nodes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker env show 1
  stoker env show 1 --output yaml")]
pub(super) struct ShowArgs {
    #[command(flatten)]
    env: EnvArg,
}

pub(super) fn list(remote: &mut Remote<'_>) -> Outcome {
    let clusters = remote.get_list(&RestRequest::get("clusters"))?;
    remote.list(
        &[
            ("id", "id"),
            ("name", "name"),
            ("status", "status"),
            ("release", "release_id"),
            ("mode", "mode"),
            ("tenant", "tenant"),
        ],
        clusters,
    )
}

pub(super) fn show(args: &ShowArgs, remote: &mut Remote<'_>) -> Outcome {
    let id = args.env.id();
    let mut cluster = remote.get(format!("clusters/{id}"))?;
    if remote.format() == Format::Table && !remote.is_quiet() {
        let nodes: Vec<NodeView> = remote.read_list(&RestRequest::get("nodes").query("cluster_id", id))?;
        set(&mut cluster, "nodes", nodes.iter().map(summary).collect::<Vec<_>>());
    }
    remote.details(
        &[
            ("id", "id"),
            ("name", "name"),
            ("status", "status"),
            ("release", "release_id"),
            ("mode", "mode"),
            ("components", "components"),
            ("nodes", "nodes"),
            ("merge order", "merge_order"),
            ("merge mode", "merge_mode"),
            ("custom facts", "is_customized"),
            ("locked", "is_locked"),
            ("tenant", "tenant"),
            ("created", "created_at"),
        ],
        &cluster,
    )
}

/// Returns the ID of a node with its current and pending roles.
fn summary(node: &NodeView) -> String {
    format!("{} ({})", node.id, [&node.roles[..], &node.pending_roles].concat().join(", "))
}
