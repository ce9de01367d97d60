use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_api_types::assignment::AssignmentView;
use stoker_api_types::nodes::NodeView;
use stoker_client::{Body, Method, RestRequest};
use stoker_diagnostics::Diagnostic;

use super::EnvArg;
use crate::exit::Outcome;
use crate::remote::{Format, Remote, typed};

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

    /// Node ID; can be repeated or comma-separated
    #[arg(
        long = "node",
        short,
        value_name = "ID",
        value_delimiter = ',',
        required = true,
        visible_alias = "nodes"
    )]
    nodes: Vec<i64>,

    /// Role to assign; can be repeated or comma-separated
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
Nodes that were never deployed leave immediately. Others are marked: the next run of the cluster executes the graph
`deletion` on them, if there is one, and then removes them.

Examples:
  stoker env remove nodes 1 --node 1,2
  stoker env remove nodes 1 --all
  stoker env remove nodes 1 --node 3 --now")]
struct RemoveNodesArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Node ID; can be repeated or comma-separated
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

    /// Remove all nodes from the cluster
    #[arg(long)]
    all: bool,

    /// Remove the nodes immediately, without the graph `deletion`
    #[arg(long)]
    now: bool,
}

pub(super) fn add(args: &AddArgs, remote: &mut Remote<'_>) -> Outcome {
    let Add::Nodes(args) = &args.resource;
    let id = args.env.id();
    let body: Vec<Json> = args.nodes.iter().map(|node| json!({"id": node, "roles": args.roles})).collect();
    let body = json!(body);
    let answer = remote.send_json(Method::Post, format!("clusters/{id}/assignment"), &body)?;
    if let Some(assigned) = typed::<Option<AssignmentView>>(&answer)? {
        for warning in assigned.warnings {
            let code = warning.code.unwrap_or_default();
            remote.printer.diagnostic(&Diagnostic::warning(code, warning.message).help_if(warning.help));
        }
    }
    report_assignment(
        remote,
        &body,
        &format!("added {} to cluster {id} as {}", node_list(&args.nodes), args.roles.join(", ")),
    )
}

pub(super) fn remove(args: &RemoveArgs, remote: &mut Remote<'_>) -> Outcome {
    let Remove::Nodes(args) = &args.resource;
    let id = args.env.id();
    let members: Vec<NodeView> = remote.read_list(&RestRequest::get("nodes").query("cluster_id", id))?;
    let ids = if args.all { members.iter().map(|node| node.id).collect() } else { args.nodes.clone() };
    let note = unassign(remote, id, &ids, &members, args.now)?;
    let body: Vec<Json> = ids.iter().map(|node| json!({"id": node})).collect();
    report_assignment(remote, &json!(body), &note)
}

/// Removes nodes from a cluster and returns what happened to them. `members` are their records before the request.
pub(crate) fn unassign(
    remote: &mut Remote<'_>,
    cluster: i64,
    ids: &[i64],
    members: &[NodeView],
    now: bool,
) -> Outcome<String> {
    let body: Vec<Json> = ids.iter().map(|node| json!({"id": node})).collect();
    let body = json!(body);
    let request =
        RestRequest::new(Method::Post, format!("clusters/{cluster}/unassignment")).body(Body::Json(&body));
    remote.send(&if now { request.query("now", 1) } else { request })?;
    let is_gone = |id: &i64| now || members.iter().any(|node| node.id == *id && node.status == "discover");
    let (gone, marked): (Vec<i64>, Vec<i64>) = ids.iter().partition(|id| is_gone(id));
    let mut notes = Vec::new();
    if !gone.is_empty() || marked.is_empty() {
        notes.push(format!("removed {} from cluster {cluster}", node_list(&gone)));
    }
    if !marked.is_empty() {
        notes.push(format!(
            "marked {} for removal; the next run of cluster {cluster} removes {}",
            node_list(&marked),
            if marked.len() == 1 { "it" } else { "them" },
        ));
    }
    Ok(notes.join("\n"))
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
