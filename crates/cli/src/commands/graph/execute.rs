use serde_json::{Value as Json, json};
use stoker_client::Method;

use super::owner::DEFAULT_TYPE;
use crate::commands::run::{RunOptions, report_started};
use crate::exit::Outcome;
use crate::remote::{Remote, set};

/// Run one or more graphs on a cluster, in order
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Starts a run and prints its ID. With `--follow`, shows the progress and fails if the run fails; `stoker run watch ID` does
the same later. Without `--node`, the node filter of the graph selects the nodes; without a filter, all ready nodes.

Examples:
  stoker graph execute --env 1 --type upgrade --node 1,2
  stoker graph execute --env 1 --follow
  stoker graph execute --env 1 --type provision,default --dry-run
  stoker graph execute --env 1 --task install,configure --force")]
pub(super) struct Args {
    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: i64,

    /// Graph types in execution order; can be repeated or comma-separated
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, value_delimiter = ',', default_value = DEFAULT_TYPE,
          visible_alias = "types")]
    types: Vec<String>,

    /// ID of a node to run on; can be repeated or comma-separated
    #[arg(long = "node", short, value_name = "ID", value_delimiter = ',', visible_alias = "nodes")]
    nodes: Vec<i64>,

    /// Task to run; can be repeated or comma-separated [default: all tasks]
    #[arg(long = "task", value_name = "NAME", value_delimiter = ',', visible_alias = "tasks")]
    tasks: Vec<String>,

    #[command(flatten)]
    options: RunOptions,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let graph = |graph_type: &String| {
        let mut graph = json!({"type": graph_type});
        if !args.nodes.is_empty() {
            set(&mut graph, "nodes", &args.nodes);
        }
        if !args.tasks.is_empty() {
            set(&mut graph, "tasks", &args.tasks);
        }
        graph
    };
    let graphs: Vec<Json> = args.types.iter().map(graph).collect();
    let body = args.options.apply_to(json!({"cluster": args.env, "graphs": graphs}));
    let run = remote.send_json(Method::Post, "graphs/execute", &body)?;
    report_started(remote, &run, args.options.follow)
}
