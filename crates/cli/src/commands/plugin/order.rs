use serde_json::{Value as Json, json};
use stoker_api_types::plugin_order::{OrderView, TaskView};

use crate::exit::Outcome;
use crate::remote::{Format, Remote, SharedOptions, set, typed};

/// Show the order in which stage tasks of enabled plugins run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tasks are ordered by stage, then by number (default 0), then by plugin name, then by position in the file. By
convention, numbers have these meanings:

  below 0      before everything      5000 to 6999  software
  0 to 999     hardware               8000 to 8999  monitoring
  2000 to 2999 disks                  9000 and up   unassigned
  4000 to 4999 network                others        reserved

Examples:
  stoker plugin order --env 1")]
pub(super) struct Args {
    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: i64,

    #[command(flatten)]
    pub(super) options: SharedOptions,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let response = remote.get(format!("clusters/{}/plugins/order", args.env))?;
    if remote.format() != Format::Table {
        return remote.data(&response);
    }
    let order: OrderView = typed(&response)?;
    for note in &order.notes {
        remote.note(&format!("note: {}", note.message));
    }
    for error in &order.errors {
        remote.note(&format!("error: {}", error.message));
    }
    // Show ties only: `no` in every other row would be noise.
    let row = |task: &TaskView| {
        let mut row = json!(task);
        set(&mut row, "tie", task.tie.then_some(true));
        row
    };
    let tasks: Vec<Json> = order.tasks.iter().map(row).collect();
    remote.list(
        &[
            ("position", "position"),
            ("stage", "stage"),
            ("number", "number"),
            ("range", "range"),
            ("plugin", "plugin"),
            ("version", "version"),
            ("task", "id"),
            ("type", "type"),
            ("tie", "tie"),
        ],
        tasks,
    )
}
