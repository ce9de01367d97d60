use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_client::{Method, RestRequest};

use super::EnvArg;
use crate::exit::Outcome;
use crate::remote::{Format, Remote};

/// Add nodes to a cluster
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(super) struct AddArgs {
    #[command(subcommand)]
    resource: Add,
}

#[derive(Debug, Subcommand)]
enum Add {
    Nodes(AddNodesArgs),
}

/// Remove nodes from a cluster
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(super) struct RemoveArgs {
    #[command(subcommand)]
    resource: Remove,
}

#[derive(Debug, Subcommand)]
enum Remove {
    Nodes(RemoveNodesArgs),
}

/// Add nodes to a cluster and assign roles
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The next run deploys the nodes. The request is atomic: either all nodes are added or none.

Examples:
  stoker env add nodes 1 --node 1,2 --role web
  stoker env add nodes --env 1 --node 3 --role controller,compute")]
struct AddNodesArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Node ID; can be repeated
    #[arg(
        long = "node",
        short,
        value_name = "ID",
        value_delimiter = ',',
        required = true,
        visible_alias = "nodes"
    )]
    nodes: Vec<i64>,

    /// Role to assign; can be repeated
    #[arg(
        long = "role",
        short,
        value_name = "NAME",
        value_delimiter = ',',
        required = true,
        visible_alias = "roles"
    )]
    roles: Vec<String>,
}

/// Remove nodes from a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nodes that were never deployed are removed immediately, others by the next run.

Examples:
  stoker env remove nodes 1 --node 1,2
  stoker env remove nodes 1 --all")]
struct RemoveNodesArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Node ID; can be repeated
    #[arg(
        long = "node",
        short,
        value_name = "ID",
        value_delimiter = ',',
        visible_alias = "nodes",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    nodes: Vec<i64>,

    /// Remove all nodes
    #[arg(long)]
    all: bool,
}

pub(super) fn add(args: &AddArgs, remote: &mut Remote<'_>) -> Outcome {
    let Add::Nodes(args) = &args.resource;
    let id = args.env.id();
    let body: Vec<Json> = args.nodes.iter().map(|node| json!({"id": node, "roles": args.roles})).collect();
    let body = json!(body);
    remote.send_json(Method::Post, format!("clusters/{id}/assignment"), &body)?;
    report_assignment(
        remote,
        &body,
        &format!("added {} to cluster {id} as {}", node_list(&args.nodes), args.roles.join(", ")),
    )
}

pub(super) fn remove(args: &RemoveArgs, remote: &mut Remote<'_>) -> Outcome {
    let Remove::Nodes(args) = &args.resource;
    let id = args.env.id();
    let ids = if args.all {
        let nodes = remote.get_list(&RestRequest::get("nodes").query("cluster_id", id))?;
        nodes.iter().filter_map(|node| node["id"].as_i64()).collect()
    } else {
        args.nodes.clone()
    };
    let body: Vec<Json> = ids.iter().map(|node| json!({"id": node})).collect();
    let body = json!(body);
    remote.send_json(Method::Post, format!("clusters/{id}/unassignment"), &body)?;
    report_assignment(remote, &body, &format!("removed {} from cluster {id}", node_list(&ids)))
}

/// Reports an assignment. The response of the server is empty, so the request is printed as data.
fn report_assignment(remote: &mut Remote<'_>, assignment: &Json, note: &str) -> Outcome {
    remote.note(note);
    if remote.format() == Format::Table { Ok(()) } else { remote.data(assignment) }
}

fn node_list(ids: &[i64]) -> String {
    let list = ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    if ids.len() == 1 { format!("node {list}") } else { format!("nodes {list}") }
}
