use stoker_api_types::transactions::RunView;
use stoker_client::RestRequest;
use stoker_model::RunEnd;

use super::show::elapsed_run;
use crate::exit::Outcome;
use crate::remote::{Format, Remote, set, typed};

/// List runs, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run list
  stoker run list --env 1 --status running,error
  stoker run list --limit 5 --output json")]
pub(super) struct Args {
    /// Filter by cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: Option<i64>,

    /// Filter by status: `pending`, `running`, `ready` or `error`; can be repeated or comma-separated
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<String>,

    /// Maximum number of runs to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// List child runs too: a run of several graphs has one per graph
    #[arg(long)]
    parts: bool,
}

/// Outcomes that the table shows in place of the status.
const REPORTED_OUTCOMES: &[&str] = &[RunEnd::Partial.as_str(), RunEnd::Stopped.as_str()];

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
            let view: RunView = typed(run)?;
            set(run, "took", elapsed_run(&view));
            // The status of these runs is `error`.
            if let Some(outcome) =
                view.outcome.filter(|outcome| REPORTED_OUTCOMES.contains(&outcome.as_str()))
            {
                set(run, "status", outcome);
            }
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
