//! `stoker history`: results of tasks by node.

use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_client::RestRequest;

use super::run::elapsed;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, SharedOptions, cell};

/// Show the results of the tasks of a run
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: SharedOptions,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Show(ShowArgs),
}

/// Show the result of each task of a run on each node
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Run IDs are listed by `stoker run list`. Skipped tasks are hidden unless `--status skipped` or `--all` is passed.

Examples:
  stoker history show 7
  stoker history show 7 --node 1,2 --status error
  stoker history show 7 --task install --output json
  stoker history show 7 --csv > run-7.csv")]
struct ShowArgs {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,

    /// Filter by node; can be repeated
    #[arg(long = "node", short, value_name = "NODE", value_delimiter = ',', visible_alias = "nodes")]
    nodes: Vec<String>,

    /// Filter by task; can be repeated
    #[arg(long = "task", value_name = "NAME", value_delimiter = ',', visible_alias = "tasks")]
    tasks: Vec<String>,

    /// Filter by status: `pending`, `running`, `ready`, `error` or `skipped`; can be repeated
    #[arg(long = "status", value_name = "STATUS", value_delimiter = ',', visible_alias = "statuses")]
    statuses: Vec<String>,

    /// Show skipped tasks in the output
    #[arg(long, short, conflicts_with = "statuses")]
    all: bool,

    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    let Verb::Show(args) = &args.verb;
    show(args, &mut remote)
}

fn show(args: &ShowArgs, remote: &mut Remote<'_>) -> Outcome {
    let joined = |list: &[String]| (!list.is_empty()).then(|| list.join(","));
    let is_table = remote.format() == Format::Table && !args.csv;
    let default = (is_table && !args.all).then(|| "pending,running,ready,error".to_owned());
    let request = RestRequest::get(format!("transactions/{}/deployment_history", args.run))
        .query_opt("nodes", joined(&args.nodes))
        .query_opt("tasks_names", joined(&args.tasks))
        .query_opt("statuses", joined(&args.statuses).or(default));
    if args.csv {
        let response = remote.try_send(&request.accept("text/csv"));
        let response = response.map_err(|error| crate::remote::failure(error, None))?;
        return Ok(remote.printer.data(&response.text())?);
    }
    let mut records = remote.get_list(&request)?;
    if is_table && remote.is_quiet() {
        // Name of a task instance, as in plans.
        let name = |record: &Json| format!("{}@{}\n", cell(&record["task_name"]), cell(&record["node_id"]));
        let names: String = records.iter().map(name).collect();
        return if names.is_empty() { Ok(()) } else { Ok(remote.printer.data(&names)?) };
    }
    if is_table {
        for record in &mut records {
            record["took"] = json!(elapsed(record));
        }
    }
    remote.list(
        &[
            ("task", "task_name"),
            ("node", "node_id"),
            ("status", "status"),
            ("started", "time_start"),
            ("duration", "took"),
            ("reason", "reason"),
        ],
        records,
    )
}
