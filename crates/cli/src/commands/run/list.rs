use serde_json::json;
use stoker_client::Request;

use super::show::describe;
use crate::exit::Outcome;
use crate::remote::{Format, Remote};

/// List runs, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A run of graphs is told once; `--parts` tells the part of each graph too.

Examples:
  stoker run list
  stoker run list --env 1 --status running,error
  stoker run list --limit 5 --output json")]
pub(super) struct Args {
    /// Only of this cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: Option<i64>,

    /// Only in these states: pending, running, ready, error
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<String>,

    /// Not more than these
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Also the parts of runs, one for each graph
    #[arg(long)]
    parts: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let request = Request::get("transactions")
        .maybe("cluster_id", args.env)
        .maybe("statuses", (!args.status.is_empty()).then(|| args.status.join(",")))
        .maybe("whole", (!args.parts).then_some(1))
        .query("order_by", "-id")
        .query("limit", args.limit);
    let mut runs = remote.get_list(&request)?;
    if remote.format() == Format::Table {
        for run in &mut runs {
            run["took"] = json!(describe(run));
        }
    }
    remote.list(
        &[
            ("id", "id"),
            ("cluster", "cluster"),
            ("what", "name"),
            ("graph", "graph_type"),
            ("status", "status"),
            ("%", "progress"),
            ("dry", "dry_run"),
            ("started", "time_start"),
            ("took", "took"),
        ],
        runs,
    )
}
