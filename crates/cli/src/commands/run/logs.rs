use serde_json::{Value as Json, json};
use stoker_client::Request;

use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote, cell};

/// Show what tasks of a run printed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a task everything that failed is shown, or with `--all` everything that was carried out. What a task wrote to
its standard error is marked with `!`.

Examples:
  stoker run logs 7
  stoker run logs 7 --task install --node 3
  stoker run logs 7 --all
  stoker run logs 7 --search 'connection refused'")]
pub(super) struct Args {
    /// Id of the run
    #[arg(value_name = "RUN")]
    run: i64,

    /// Of this task
    #[arg(long, value_name = "NAME")]
    task: Option<String>,

    /// On this node
    #[arg(long, short, value_name = "NODE")]
    node: Option<String>,

    /// Of everything that was carried out
    #[arg(long, short, conflicts_with = "task")]
    all: bool,

    /// Only where this text was printed
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["task", "node", "all"])]
    search: Option<String>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = format!("runs/{}/output", args.run);
    if let Some(text) = &args.search {
        let found = remote.get_list(&Request::get(path).query("search", text))?;
        if remote.format() != Format::Table {
            return remote.data(&Json::Array(found));
        }
        for piece in &found {
            print(remote, piece)?;
        }
        return Ok(());
    }
    let statuses = match (&args.task, args.all) {
        (None, false) => "error",
        _ => "ready,error,running",
    };
    let mut all = Vec::new();
    let mut n_told = 0;
    for part in parts(remote, args.run)? {
        let history = Request::get(format!("transactions/{part}/deployment_history"))
            .query("statuses", statuses)
            .maybe("tasks_names", args.task.as_ref())
            .maybe("nodes", args.node.as_ref());
        for record in remote.get_list(&history)? {
            let (task, node) = (cell(&record["task_name"]), cell(&record["node_id"]));
            let request =
                Request::get(format!("runs/{part}/output")).query("task", &task).query("node", &node);
            let pieces = remote.get_list(&request)?;
            n_told += 1;
            if remote.format() == Format::Table {
                let reason = crate::text::one_line(&cell(&record["reason"]));
                let why = if reason.is_empty() { reason } else { format!(", {reason}") };
                remote.note(&format!("{task} on node {node}: {}{why}", cell(&record["status"])));
                print_attempts(remote, pieces)?;
            } else {
                all.push(json!({
                    "task": task, "node": node, "status": record["status"], "reason": record["reason"],
                    "output": pieces,
                }));
            }
        }
    }
    match (remote.format(), &args.task) {
        (_, Some(task)) if n_told == 0 => {
            Err(Failure::failed(format!("task `{task}` was not carried out in run {}", args.run)))
        }
        (Format::Table, _) => {
            if n_told == 0 {
                remote.note(nothing(args));
            }
            Ok(())
        }
        _ => remote.data(&Json::Array(all)),
    }
}

/// Silence would leave open whether something was looked for.
fn nothing(args: &Args) -> &'static str {
    if args.all { "nothing was carried out" } else { "nothing failed; `--all` shows what was carried out" }
}

/// The parts of a run; itself where it is one.
pub(super) fn parts(remote: &mut Remote<'_>, run: i64) -> Outcome<Vec<i64>> {
    let shown = remote.get(format!("runs/{run}"))?;
    let parts = shown["parts"].as_array().into_iter().flatten();
    let ids: Vec<i64> = parts.filter_map(|part| part["run"]["id"].as_i64()).collect();
    Ok(if ids.is_empty() { vec![run] } else { ids })
}

/// What was printed, attempt by attempt, standard output first.
fn print_attempts(remote: &mut Remote<'_>, mut pieces: Vec<Json>) -> Outcome {
    pieces.sort_by_key(|piece| (piece["attempt"].as_i64(), piece["stream"] == "err"));
    let is_tried_again = pieces.last().is_some_and(|piece| piece["attempt"].as_i64() > Some(1));
    let mut attempt = &Json::Null;
    for piece in &pieces {
        if is_tried_again && piece["attempt"] != *attempt {
            attempt = &piece["attempt"];
            remote.note(&format!("attempt {}:", cell(attempt)));
        }
        print(remote, piece)?;
    }
    Ok(())
}

fn print(remote: &mut Remote<'_>, piece: &Json) -> Outcome {
    let mark = if piece["stream"] == "err" { "! " } else { "  " };
    for line in piece["text"].as_str().unwrap_or_default().lines() {
        remote.printer.page(&format!("{mark}{}", crate::remote::plain(line)))?;
    }
    Ok(())
}
