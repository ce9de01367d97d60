use serde_json::{Value as Json, json};
use stoker_client::RestRequest;

use super::progress::{duration, unix_time};
use crate::exit::Outcome;
use crate::remote::{Format, Remote, cell, grid};

/// Show a run, its child runs and its failed tasks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run show 7
  stoker run show 7 --output json")]
pub(super) struct Args {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let response = remote.get(format!("runs/{}", args.run))?;
    if remote.format() != Format::Table {
        return remote.data(&response);
    }
    let mut run = response["run"].clone();
    run["took"] = json!(elapsed(&run));
    remote.details(
        &[
            ("id", "id"),
            ("name", "name"),
            ("cluster", "cluster"),
            ("status", "status"),
            ("progress", "progress"),
            ("dry run", "dry_run"),
            ("message", "message"),
            ("started", "time_start"),
            ("ended", "time_end"),
            ("duration", "took"),
        ],
        &run,
    )?;
    if remote.is_quiet() {
        return Ok(());
    }
    let children = response["parts"].as_array().cloned().unwrap_or_default();
    if !children.is_empty() {
        let row = |child: &Json| {
            let run = &child["run"];
            let fields =
                [&run["id"], &run["graph_type"], &child["plan_id"], &run["status"], &run["progress"]];
            fields.iter().map(|field| cell(field)).chain([elapsed(run)]).collect()
        };
        let header = ["run", "graph", "plan", "status", "%", "duration"];
        let table = grid(&header, children.iter().map(row));
        remote.printer.page(&format!("\n{table}"))?;
    }
    let failed = failures(remote, args.run)?;
    print_failures(remote, &failed)
}

/// Records of failed tasks; stopped tasks are not failures.
pub(super) fn failures(remote: &mut Remote<'_>, run: i64) -> Outcome<Vec<Json>> {
    let request =
        RestRequest::get(format!("transactions/{run}/deployment_history")).query("statuses", "error");
    let mut failed = remote.get_list(&request)?;
    failed.retain(|record| record["outcome"] != "stopped");
    Ok(failed)
}

/// Prints a table of failed tasks.
pub(super) fn print_failures(remote: &mut Remote<'_>, failed: &[Json]) -> Outcome {
    if failed.is_empty() {
        return Ok(());
    }
    let row = |record: &Json| {
        ["task_name", "node_id", "reason"].iter().map(|key| cell(&record[*key])).collect::<Vec<_>>()
    };
    let table = grid(&["failed task", "node", "reason"], failed.iter().map(row));
    Ok(remote.printer.page(&format!("\n{table}"))?)
}

/// Duration of a finished run.
pub(crate) fn elapsed(run: &Json) -> String {
    let time = |key: &str| run[key].as_str().and_then(unix_time);
    match (time("time_start"), time("time_end")) {
        (Some(start), Some(end)) => duration(end - start),
        _ => String::new(),
    }
}
