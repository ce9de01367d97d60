use serde_json::json;
use stoker_api_types::runs::{PartView, RunDetails};
use stoker_api_types::transactions::{HistoryView, RunView};
use stoker_client::RestRequest;

use super::progress::{duration, unix_time};
use crate::exit::Outcome;
use crate::remote::{Format, Remote, grid, sanitize, set, typed};

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
    let details: RunDetails = typed(&response)?;
    let mut run = json!(details.run);
    set(&mut run, "took", elapsed_run(&details.run));
    remote.details(
        &[
            ("id", "id"),
            ("name", "name"),
            ("cluster", "cluster"),
            ("status", "status"),
            ("outcome", "outcome"),
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
    if !details.parts.is_empty() {
        let row = |child: &PartView| {
            let run = &child.run;
            vec![
                run.id.to_string(),
                sanitize(run.graph_type.as_deref().unwrap_or_default()),
                child.plan_id.map(|plan| plan.to_string()).unwrap_or_default(),
                sanitize(&run.status),
                sanitize(run.outcome.as_deref().unwrap_or_default()),
                run.progress.to_string(),
                elapsed_run(run),
            ]
        };
        let header = ["run", "graph", "plan", "status", "outcome", "%", "duration"];
        let table = grid(&header, details.parts.iter().map(row));
        remote.printer.page(&format!("\n{table}"))?;
    }
    let failed = failures(remote, args.run)?;
    print_failures(remote, &failed)
}

/// Records of failed tasks; stopped tasks are not failures.
pub(super) fn failures(remote: &mut Remote<'_>, run: i64) -> Outcome<Vec<HistoryView>> {
    let request =
        RestRequest::get(format!("transactions/{run}/deployment_history")).query("statuses", "error");
    let mut failed: Vec<HistoryView> = remote.read_list(&request)?;
    failed.retain(|record| record.outcome.as_deref() != Some("stopped"));
    Ok(failed)
}

/// Prints a table of failed tasks.
pub(super) fn print_failures(remote: &mut Remote<'_>, failed: &[HistoryView]) -> Outcome {
    if failed.is_empty() {
        return Ok(());
    }
    let row = |record: &HistoryView| {
        let reason = record.reason.as_deref().unwrap_or_default();
        [&record.task_name, &record.node_id, reason].map(sanitize).to_vec()
    };
    let table = grid(&["failed task", "node", "reason"], failed.iter().map(row));
    Ok(remote.printer.page(&format!("\n{table}"))?)
}

/// Returns the duration of a finished run.
pub(super) fn elapsed_run(run: &RunView) -> String {
    elapsed(run.time_start.as_deref(), run.time_end.as_deref())
}

/// Returns the duration between two timestamps; empty if one of them is unknown.
pub(crate) fn elapsed(start: Option<&str>, end: Option<&str>) -> String {
    match (start.and_then(unix_time), end.and_then(unix_time)) {
        (Some(start), Some(end)) => duration(end - start),
        _ => String::new(),
    }
}
