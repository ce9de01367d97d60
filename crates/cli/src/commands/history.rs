//! `stoker history`: results of tasks by node.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use clap::Subcommand;
use stoker_api_types::transactions::{DifferenceView, HistoryView};
use stoker_client::RestRequest;

use super::run::{effects_text, elapsed};
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, SharedOptions, sanitize, set, typed};

/// Show task results of a run
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

/// Show the result of each task of a run, by node
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Run IDs are listed by `stoker run list`. Skipped tasks are hidden unless `--status skipped` or `--all` is passed.

Examples:
  stoker history show 7
  stoker history show 7 --node 1,2 --status error
  stoker history show 7 --task install --output json
  stoker history show 7 --diff
  stoker history show 7 --csv > run-7.csv")]
struct ShowArgs {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,

    /// Filter by node ID; can be repeated or comma-separated
    #[arg(long = "node", short, value_name = "NODE", value_delimiter = ',', visible_alias = "nodes")]
    nodes: Vec<String>,

    /// Filter by task name; can be repeated or comma-separated
    #[arg(long = "task", value_name = "NAME", value_delimiter = ',', visible_alias = "tasks")]
    tasks: Vec<String>,

    /// Filter by status: `pending`, `running`, `ready`, `error` or `skipped`; can be repeated or comma-separated
    #[arg(long = "status", value_name = "STATUS", value_delimiter = ',', visible_alias = "statuses")]
    statuses: Vec<String>,

    /// Include skipped tasks in the output
    #[arg(long, short, conflicts_with = "statuses")]
    all: bool,

    /// Print what each task changed on its node, as a diff
    #[arg(long, conflicts_with_all = ["csv", "all"])]
    diff: bool,

    /// Print comma-separated values (CSV) instead of a table
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
        let views: Vec<HistoryView> = records.iter().map(typed).collect::<Outcome<_>>()?;
        let name =
            |record: &HistoryView| format!("{}@{}\n", sanitize(&record.task_name), sanitize(&record.node_id));
        let names: String = views.iter().map(name).collect();
        return if names.is_empty() { Ok(()) } else { Ok(remote.printer.data(&names)?) };
    }
    if is_table && args.diff {
        let views: Vec<HistoryView> = records.iter().map(typed).collect::<Outcome<_>>()?;
        return Ok(remote.printer.page(&diff_text(&views))?);
    }
    let mut totals = None;
    if is_table {
        let views: Vec<HistoryView> = records.iter().map(typed).collect::<Outcome<_>>()?;
        let (n_changed, n_unchanged, n_unknown) = count_effects(&views);
        totals = effects_text(n_changed, n_unchanged, n_unknown);
        for (record, view) in records.iter_mut().zip(views) {
            let HistoryView { time_start, time_end, changed, .. } = view;
            set(record, "took", elapsed(time_start.as_deref(), time_end.as_deref()));
            set(record, "effect", effect(changed));
        }
    }
    remote.list(
        &[
            ("task", "task_name"),
            ("node", "node_id"),
            ("status", "status"),
            ("started", "time_start"),
            ("duration", "took"),
            ("effect", "effect"),
            ("reason", "reason"),
        ],
        records,
    )?;
    match totals {
        Some(totals) => Ok(remote.printer.page(&format!("\n{totals}"))?),
        None => Ok(()),
    }
}

/// Counts the ended instances that changed something, those that changed nothing, and those that cannot tell.
fn count_effects(records: &[HistoryView]) -> (u64, u64, u64) {
    let has_run = |record: &&HistoryView| record.time_end.is_some() && record.status != "skipped";
    let count = |changed: Option<bool>| {
        records.iter().filter(has_run).filter(|record| record.changed == changed).count() as u64
    };
    (count(Some(true)), count(Some(false)), count(None))
}

/// Describes whether a task changed its node; empty if that is unknown.
fn effect(changed: Option<bool>) -> String {
    changed.map_or("", |changed| if changed { "changed" } else { "unchanged" }).to_owned()
}

/// Renders the differences of all tasks that changed something, and counts the others.
fn diff_text(records: &[HistoryView]) -> String {
    let mut text = String::new();
    for record in records.iter().filter(|record| !record.diff.is_empty()) {
        _ = writeln!(text, "{} on {}", sanitize(&record.task_name), sanitize(&record.node_id));
        for difference in &record.diff {
            write_difference(&mut text, difference);
        }
        text.push('\n');
    }
    let (n_changed, n_unchanged, n_unknown) = count_effects(records);
    _ = writeln!(text, "{n_changed} changed, {n_unchanged} unchanged, {n_unknown} with unknown effect");
    text
}

/// Writes a difference between a host and its desired state, indented.
pub(super) fn write_difference(text: &mut String, difference: &DifferenceView) {
    let DifferenceView { subject, attribute, old, new, text: diff } = difference;
    let (subject, attribute) = (sanitize(subject), sanitize(attribute));
    let Some(diff) = diff else {
        let value = |value: &Option<String>| value.as_deref().map_or("(absent)".to_owned(), sanitize);
        _ = writeln!(text, "  {subject}: {attribute} {} → {}", value(old), value(new));
        return;
    };
    _ = writeln!(text, "  {subject}: {attribute}");
    for line in diff.lines() {
        let style = match line.chars().next() {
            Some('+') => ADDED,
            Some('-') => REMOVED,
            _ => Style::new(),
        };
        _ = writeln!(text, "    {style}{}{style:#}", sanitize(line));
    }
}

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_shown_by_task_and_node() {
        let record = |name: &str, changed: Option<bool>, diff: serde_json::Value| -> HistoryView {
            serde_json::from_value(json!({
                "task_name": name, "deployment_graph_task_name": name, "node_id": "2", "status": "ready",
                "time_start": null, "time_end": "2026-01-31T07:00:00", "changed": changed, "diff": diff,
                "reason": null, "outcome": null,
            }))
            .unwrap()
        };
        let diff = json!([
            {"subject": "/etc/nginx.conf", "attribute": "mode", "old": "0600", "new": "0644"},
            {"subject": "/etc/nginx.conf", "attribute": "content", "text": "@@ -1 +1 @@\n-a\n+b\n"},
            {"subject": "nginx", "attribute": "version", "old": null, "new": "1.22"},
        ]);
        let records = [
            record("config", Some(true), diff),
            record("user", Some(false), json!([])),
            record("shell", None, json!([])),
        ];
        insta::assert_snapshot!(anstream::adapter::strip_str(&diff_text(&records)).to_string());
    }
}
