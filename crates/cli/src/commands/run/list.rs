use serde_json::json;
use stoker_client::RestRequest;

use super::show::elapsed;
use crate::exit::Outcome;
use crate::remote::{Format, Remote};

/// List runs, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A run of several graphs is listed once; `--parts` lists its child runs too.

Examples:
  stoker run list
  stoker run list --env 1 --status running,error
  stoker run list --limit 5 --output json")]
pub(super) struct Args {
    /// Filter by cluster ID
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: Option<i64>,

    /// Filter by status: `pending`, `running`, `ready` or `error`; can be repeated
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<String>,

    /// Maximum number of runs to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Include child runs, one per graph
    #[arg(long)]
    parts: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let request = RestRequest::get("transactions")
        .query_opt("cluster_id", args.env)
        .query_opt("statuses", (!args.status.is_empty()).then(|| args.status.join(",")))
        .query_opt("whole", (!args.parts).then_some(1))
        .query("order_by", "-id")
        .query("limit", args.limit);
    let mut runs = remote.get_list(&request)?;
    if remote.format() == Format::Table {
        for run in &mut runs {
            run["took"] = json!(elapsed(run));
        }
    }
    remote.list(
        &[
            ("id", "id"),
            ("cluster", "cluster"),
            ("name", "name"),
            ("graph", "graph_type"),
            ("status", "status"),
            ("%", "progress"),
            ("dry", "dry_run"),
            ("started", "time_start"),
            ("duration", "took"),
        ],
        runs,
    )
}
