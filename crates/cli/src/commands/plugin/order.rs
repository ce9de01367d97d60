use crate::exit::Outcome;
use crate::remote::{Format, Remote, SharedOptions};

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
    #[arg(long, value_name = "CLUSTER")]
    env: i64,

    #[command(flatten)]
    pub(super) options: SharedOptions,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let order = remote.get(format!("clusters/{}/plugins/order", args.env))?;
    if remote.format() != Format::Table {
        return remote.data(&order);
    }
    for key in ["notes", "errors"] {
        let messages = order[key].as_array().into_iter().flatten();
        for message in messages.filter_map(|entry| entry["message"].as_str()) {
            let label = if key == "errors" { "error" } else { "note" };
            remote.note(&format!("{label}: {message}"));
        }
    }
    let mut tasks = order["tasks"].as_array().cloned().unwrap_or_default();
    // Show ties only: `no` in every other row would be noise.
    for task in tasks.iter_mut().filter(|task| task["tie"] == false) {
        task["tie"].take();
    }
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
