use serde_json::{Value as Json, json};
use stoker_client::Request;

use super::progress::{duration, moment};
use crate::exit::Outcome;
use crate::remote::{Format, Remote, cell, grid};

/// Show a run: its parts, and what failed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker run show 7
  stoker run show 7 --output json")]
pub(super) struct Args {
    /// Id of the run
    #[arg(value_name = "RUN")]
    run: i64,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let shown = remote.get(format!("runs/{}", args.run))?;
    if remote.format() != Format::Table {
        return remote.data(&shown);
    }
    let mut run = shown["run"].clone();
    run["took"] = json!(describe(&run));
    remote.details(
        &[
            ("id", "id"),
            ("what", "name"),
            ("cluster", "cluster"),
            ("status", "status"),
            ("progress", "progress"),
            ("dry run", "dry_run"),
            ("message", "message"),
            ("started", "time_start"),
            ("ended", "time_end"),
            ("took", "took"),
        ],
        &run,
    )?;
    if remote.is_quiet() {
        return Ok(());
    }
    let parts = shown["parts"].as_array().cloned().unwrap_or_default();
    if !parts.is_empty() {
        let row = |part: &Json| {
            let run = &part["run"];
            let fields = [&run["id"], &run["graph_type"], &part["plan_id"], &run["status"], &run["progress"]];
            fields.iter().map(|field| cell(field)).chain([describe(run)]).collect()
        };
        let header = ["part", "graph", "plan", "status", "%", "took"];
        let table = grid(&header, parts.iter().map(row));
        remote.printer.page(&format!("\n{table}"))?;
    }
    let failed = failures(remote, args.run)?;
    tell_failures(remote, &failed)
}

/// Records of what failed; what was stopped did not.
pub(super) fn failures(remote: &mut Remote<'_>, run: i64) -> Outcome<Vec<Json>> {
    let request = Request::get(format!("transactions/{run}/deployment_history")).query("statuses", "error");
    let mut failed = remote.get_list(&request)?;
    failed.retain(|record| record["outcome"] != "stopped");
    Ok(failed)
}

/// What did not succeed, and why.
pub(super) fn tell_failures(remote: &mut Remote<'_>, failed: &[Json]) -> Outcome {
    if failed.is_empty() {
        return Ok(());
    }
    let row = |record: &Json| {
        ["task_name", "node_id", "reason"].iter().map(|key| cell(&record[*key])).collect::<Vec<_>>()
    };
    let table = grid(&["failed task", "node", "why"], failed.iter().map(row));
    Ok(remote.printer.page(&format!("\n{table}"))?)
}

/// How long something took that has ended.
pub(crate) fn describe(run: &Json) -> String {
    let at = |key: &str| run[key].as_str().and_then(moment);
    match (at("time_start"), at("time_end")) {
        (Some(start), Some(end)) => duration(end - start),
        _ => String::new(),
    }
}
