use serde_json::{Value as Json, json};
use stoker_client::RestRequest;

use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote, cell};

/// Show the output of the tasks of a run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
By default, shows the output of failed tasks; `--all` includes all executed tasks. Lines from standard error are marked
with `!`.

Examples:
  stoker run logs 7
  stoker run logs 7 --task install --node 3
  stoker run logs 7 --all
  stoker run logs 7 --search 'connection refused'")]
pub(super) struct Args {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,

    /// Task to show
    #[arg(long, value_name = "NAME")]
    task: Option<String>,

    /// Node ID to show
    #[arg(long, short, value_name = "NODE")]
    node: Option<String>,

    /// Show all executed tasks, not only failed ones
    #[arg(long, short, conflicts_with = "task")]
    all: bool,

    /// Text to search for in the output
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
            print(remote, chunk)?;
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
        for record in remote.get_list(&history)? {
            let (task, node) = (cell(&record["task_name"]), cell(&record["node_id"]));
            let request =
                RestRequest::get(format!("runs/{child}/output")).query("task", &task).query("node", &node);
            let chunks = remote.get_list(&request)?;
            n_records += 1;
            if remote.format() == Format::Table {
                let reason = crate::text::collapse_whitespace(&cell(&record["reason"]));
                let suffix = if reason.is_empty() { reason } else { format!(", {reason}") };
                remote.note(&format!("{task} on node {node}: {}{suffix}", cell(&record["status"])));
                print_attempts(remote, chunks)?;
            } else {
                records.push(json!({
                    "task": task, "node": node, "status": record["status"], "reason": record["reason"],
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

/// Message for an empty result.
fn empty_message(args: &Args) -> &'static str {
    if args.all {
        "no tasks were executed"
    } else {
        "no failed tasks; pass `--all` to see all executed tasks"
    }
}

/// IDs of the child runs; the run itself if it has none.
pub(super) fn child_ids(remote: &mut Remote<'_>, run: i64) -> Outcome<Vec<i64>> {
    let run_details = remote.get(format!("runs/{run}"))?;
    let children = run_details["parts"].as_array().into_iter().flatten();
    let ids: Vec<i64> = children.filter_map(|child| child["run"]["id"].as_i64()).collect();
    Ok(if ids.is_empty() { vec![run] } else { ids })
}

/// Prints output by attempt, standard output first.
fn print_attempts(remote: &mut Remote<'_>, mut chunks: Vec<Json>) -> Outcome {
    chunks.sort_by_key(|chunk| (chunk["attempt"].as_i64(), chunk["stream"] == "err"));
    let has_retries = chunks.last().is_some_and(|chunk| chunk["attempt"].as_i64() > Some(1));
    let mut attempt = &Json::Null;
    for chunk in &chunks {
        if has_retries && chunk["attempt"] != *attempt {
            attempt = &chunk["attempt"];
            remote.note(&format!("attempt {}:", cell(attempt)));
        }
        print(remote, chunk)?;
    }
    Ok(())
}

fn print(remote: &mut Remote<'_>, chunk: &Json) -> Outcome {
    let mark = if chunk["stream"] == "err" { "! " } else { "  " };
    for line in chunk["text"].as_str().unwrap_or_default().lines() {
        remote.printer.page(&format!("{mark}{}", crate::remote::sanitize(line)))?;
    }
    Ok(())
}
