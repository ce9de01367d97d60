use crate::exit::Outcome;
use crate::remote::{Format, Remote, Shared};

/// Show in which order the stage tasks of enabled plugins run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tasks run by stage, then by number (0 if none is written), then by name of the plugin, then by position in its file.
By convention the numbers are for:

  below 0      before everything      5000 to 6999  software
  0 to 999     hardware               8000 to 8999  monitoring
  2000 to 2999 disks                  9000 and up   unassigned
  4000 to 4999 network                others        reserved

Examples:
  stoker plugin order --env 1")]
pub(super) struct Args {
    /// Id of the cluster
    #[arg(long, value_name = "CLUSTER")]
    env: i64,

    #[command(flatten)]
    pub(super) options: Shared,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let order = remote.get(format!("clusters/{}/plugins/order", args.env))?;
    if remote.format() != Format::Table {
        return remote.data(&order);
    }
    for key in ["notes", "errors"] {
        let messages = order[key].as_array().into_iter().flatten();
        for message in messages.filter_map(|entry| entry["message"].as_str()) {
            let word = if key == "errors" { "error" } else { "note" };
            remote.note(&format!("{word}: {message}"));
        }
    }
    let mut tasks = order["tasks"].as_array().cloned().unwrap_or_default();
    // A no in every line would be noise.
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
