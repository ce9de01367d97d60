use stoker_client::RestRequest;

use crate::exit::Outcome;
use crate::remote::Remote;

/// List nodes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker node list
  stoker node list --env 1
  stoker node list --free --output json")]
pub(super) struct ListArgs {
    /// Filter by cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"], conflicts_with = "free")]
    env: Option<i64>,

    /// List only nodes that belong to no cluster
    #[arg(long)]
    free: bool,

    /// Filter by role; can be repeated or comma-separated to match any of them
    #[arg(long = "role", value_name = "NAME", value_delimiter = ',')]
    roles: Vec<String>,
}

/// Show a node
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker node show 1
  stoker node show 1 --output json")]
pub(super) struct ShowArgs {
    /// Node ID
    #[arg(value_name = "NODE")]
    node: i64,
}

pub(super) fn list(args: &ListArgs, remote: &mut Remote<'_>) -> Outcome {
    let cluster = args.env.map(|id| id.to_string()).or_else(|| args.free.then(String::new));
    let roles = (!args.roles.is_empty()).then(|| args.roles.join(","));
    let request = RestRequest::get("nodes").query_opt("cluster_id", cluster).query_opt("roles", roles);
    let nodes = remote.get_list(&request)?;
    remote.list(
        &[
            ("id", "id"),
            ("name", "name"),
            ("status", "status"),
            ("online", "online"),
            ("cluster", "cluster"),
            ("roles", "roles"),
            ("pending roles", "pending_roles"),
            ("ip", "ip"),
            ("labels", "labels"),
        ],
        nodes,
    )
}

pub(super) fn show(args: &ShowArgs, remote: &mut Remote<'_>) -> Outcome {
    let node = remote.get(format!("nodes/{}", args.node))?;
    remote.details(
        &[
            ("id", "id"),
            ("name", "name"),
            ("hostname", "hostname"),
            ("status", "status"),
            ("online", "online"),
            ("last seen", "last_seen_at"),
            ("cluster", "cluster"),
            ("roles", "roles"),
            ("pending roles", "pending_roles"),
            ("pending addition", "pending_addition"),
            ("pending removal", "pending_deletion"),
            ("error", "error_msg"),
            ("progress", "progress"),
            ("ip", "ip"),
            ("mac", "mac"),
            ("labels", "labels"),
            ("operating system", "os_platform"),
            ("kernel", "facts.kernel"),
            ("cores", "facts.cores"),
            ("memory (bytes)", "facts.memory_bytes"),
            ("manufacturer", "manufacturer"),
        ],
        &node,
    )
}
