use serde_json::{Value as Json, json};
use stoker_api_types::runs::{OutputView, RunDetails};
use stoker_api_types::transactions::HistoryView;
use stoker_client::RestRequest;

use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote, sanitize, typed};

/// Show the output of the tasks of a run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Lines from standard error are marked with `!`.

Examples:
  stoker run logs 7
  stoker run logs 7 --task install --node 3
  stoker run logs 7 --all
  stoker run logs 7 --search 'connection refused'")]
pub(super) struct Args {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,

    /// Show the output of this task [default: failed tasks]
    #[arg(long, value_name = "NAME")]
    task: Option<String>,

    /// Show the output from the node with this ID [default: all nodes]
    #[arg(long, short, value_name = "NODE")]
    node: Option<String>,

    /// Show the output of all executed tasks
    #[arg(long, short, conflicts_with = "task")]
    all: bool,

    /// Show the output of all tasks that contains this text
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["task", "node", "all"])]
    search: Option<String>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = format!("runs/{}/output", args.run);
    if let Some(text) = &args.search {
        let chunks = remote.get_list(&RestRequest::get(path).query("search", text))?;
        if remote.format() != Format::Table {
            return remote.data(&Json::Array(chunks));
        }
        for chunk in &chunks {
            print(remote, &typed(chunk)?)?;
        }
        return Ok(());
    }
    let statuses = match (&args.task, args.all) {
        (None, false) => "error",
        _ => "ready,error,running",
    };
    let mut records = Vec::new();
    let mut n_records = 0;
    for child in child_ids(remote, args.run)? {
        let history = RestRequest::get(format!("transactions/{child}/deployment_history"))
            .query("statuses", statuses)
            .query_opt("tasks_names", args.task.as_ref())
            .query_opt("nodes", args.node.as_ref());
        for record in remote.read_list::<HistoryView>(&history)? {
            let (task, node) = (sanitize(&record.task_name), sanitize(&record.node_id));
            let request =
                RestRequest::get(format!("runs/{child}/output")).query("task", &task).query("node", &node);
            let chunks = remote.get_list(&request)?;
            n_records += 1;
            if remote.format() == Format::Table {
                let reason = sanitize(record.reason.as_deref().unwrap_or_default());
                let reason = crate::text::collapse_whitespace(&reason);
                let suffix = if reason.is_empty() { reason } else { format!(", {reason}") };
                remote.note(&format!("{task} on node {node}: {}{suffix}", sanitize(&record.status)));
                print_attempts(remote, chunks.iter().map(typed).collect::<Outcome<_>>()?)?;
            } else {
                records.push(json!({
                    "task": task, "node": node, "status": record.status, "reason": record.reason,
                    "output": chunks,
                }));
            }
        }
    }
    match (remote.format(), &args.task) {
        (_, Some(task)) if n_records == 0 => {
            Err(Failure::failed(format!("task `{task}` was not executed in run {}", args.run)))
        }
        (Format::Table, _) => {
            if n_records == 0 {
                remote.note(empty_message(args));
            }
            Ok(())
        }
        _ => remote.data(&Json::Array(records)),
    }
}

/// Returns the message for an empty result.
fn empty_message(args: &Args) -> &'static str {
    if args.all {
        "no tasks were executed"
    } else {
        "no failed tasks; pass `--all` to see all executed tasks"
    }
}

/// Returns the IDs of the child runs, or the ID of the run itself if it has none.
pub(super) fn child_ids(remote: &mut Remote<'_>, run: i64) -> Outcome<Vec<i64>> {
    let details: RunDetails = remote.read(format!("runs/{run}"))?;
    let ids: Vec<i64> = details.parts.iter().map(|child| child.run.id).collect();
    Ok(if ids.is_empty() { vec![run] } else { ids })
}

/// Prints output by attempt, standard output first.
fn print_attempts(remote: &mut Remote<'_>, mut chunks: Vec<OutputView>) -> Outcome {
    chunks.sort_by_key(|chunk| (chunk.attempt, chunk.stream == "err"));
    let has_retries = chunks.last().is_some_and(|chunk| chunk.attempt > 1);
    let mut attempt = None;
    for chunk in &chunks {
        if has_retries && attempt != Some(chunk.attempt) {
            attempt = Some(chunk.attempt);
            remote.note(&format!("attempt {}:", chunk.attempt));
        }
        print(remote, chunk)?;
    }
    Ok(())
}

fn print(remote: &mut Remote<'_>, chunk: &OutputView) -> Outcome {
    let mark = if chunk.stream == "err" { "! " } else { "  " };
    for line in chunk.text.lines() {
        remote.printer.page(&format!("{mark}{}", crate::remote::sanitize(line)))?;
    }
    Ok(())
}
