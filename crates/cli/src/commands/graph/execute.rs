use serde_json::{Value as Json, json};
use stoker_client::Method;

use super::owner::DEFAULT_TYPE;
use crate::commands::run::{Manner, started};
use crate::exit::Outcome;
use crate::remote::Remote;

/// Run graphs on a cluster, one after the other
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Starts a run and prints its id. `--follow` shows how it goes and fails if the run does; `stoker run watch ID` does
the same later. Without `--node` those nodes are taken that the graph's filter chooses, or all that are ready.

Examples:
  stoker graph execute --env 1 --type upgrade --node 1,2
  stoker graph execute --env 1 --follow
  stoker graph execute --env 1 --type provision,default --dry-run
  stoker graph execute --env 1 --task install,configure --force")]
pub(super) struct Args {
    /// The cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: i64,

    /// Types of the graphs, in the order in which they are run
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, value_delimiter = ',', default_value = DEFAULT_TYPE,
          visible_alias = "types")]
    types: Vec<String>,

    /// Only on these nodes
    #[arg(long = "node", short, value_name = "ID", value_delimiter = ',', visible_alias = "nodes")]
    nodes: Vec<i64>,

    /// Only these tasks
    #[arg(long = "task", value_name = "NAME", value_delimiter = ',', visible_alias = "tasks")]
    tasks: Vec<String>,

    #[command(flatten)]
    manner: Manner,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let graph = |graph_type: &String| {
        let mut graph = json!({"type": graph_type});
        if !args.nodes.is_empty() {
            graph["nodes"] = json!(args.nodes);
        }
        if !args.tasks.is_empty() {
            graph["tasks"] = json!(args.tasks);
        }
        graph
    };
    let graphs: Vec<Json> = args.types.iter().map(graph).collect();
    let body = args.manner.over(json!({"cluster": args.env, "graphs": graphs}));
    let run = remote.send_json(Method::Post, "graphs/execute", &body)?;
    started(remote, &run, args.manner.follow)
}
