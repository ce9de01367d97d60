//! `stoker drift`: whether nodes are still in the state that tasks last applied.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value as Json, json};
use stoker_api_types::drift::{DriftCheckView, DriftView};
use stoker_client::{Method, RestRequest};

use super::history::write_difference;
use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, SharedOptions, sanitize, set, typed};

/// Compare nodes with the state that tasks last applied
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Changes nothing on the nodes. Compares tasks of types that describe a state, such as `file`, `package` and `service`, unless
they have `on_drift: ignore`. `stoker apply` repairs what drifted, except tasks with `on_drift: report`.

Exits with code 0 if all nodes are in sync, 2 if something drifted, and 1 on any error. Nodes that are offline are listed as
unknown and do not change the exit code.

Examples:
  stoker drift --env 1
  stoker drift --env 1 --node 3,4 --task nginx-config
  stoker drift --env 1 --output json")]
pub(crate) struct Args {
    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: i64,

    /// Graph type [default: default]
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// ID of a node to check; can be repeated or comma-separated [default: all nodes]
    #[arg(long = "node", short, value_name = "ID", value_delimiter = ',', visible_alias = "nodes")]
    nodes: Option<Vec<String>>,

    /// Task to check; can be repeated or comma-separated [default: all tasks]
    #[arg(long = "task", value_name = "TASK", value_delimiter = ',', visible_alias = "tasks")]
    tasks: Option<Vec<String>>,

    #[command(flatten)]
    options: SharedOptions,
}

/// What was checked.
pub(crate) struct Scope<'a> {
    pub(crate) graph_type: Option<&'a str>,
    pub(crate) tasks: Option<&'a Vec<String>>,
    pub(crate) nodes: Option<&'a Vec<String>>,
}

/// Interval at which the state of a check is read.
const POLL: Duration = Duration::from_millis(300);

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    let remote = &mut remote;
    let scope = Scope {
        graph_type: args.graph_type.as_deref(),
        tasks: args.tasks.as_ref(),
        nodes: args.nodes.as_ref(),
    };
    check(remote, args.env, &scope)?;
    let results = read(remote, args.env, &scope)?;
    let views = results.iter().map(typed).collect::<Outcome<Vec<DriftView>>>()?;
    match remote.format() {
        Format::Table if remote.is_quiet() => {
            let drifted = views.iter().filter(|view| view.status == DRIFTED);
            let names: Vec<String> = drifted.map(name).collect();
            if !names.is_empty() {
                remote.printer.data(&(names.join("\n") + "\n"))?;
            }
        }
        Format::Table => remote.printer.page(&text(&views))?,
        _ => remote.data(&Json::Array(results))?,
    }
    if views.iter().any(|view| view.status == DRIFTED) {
        return Err(Failure { exit: Exit::Changes, diagnostics: Vec::new() });
    }
    Ok(())
}

/// Prints the latest results of a cluster.
pub(crate) fn print(remote: &mut Remote<'_>, env: i64, scope: &Scope<'_>) -> Outcome {
    let results = read(remote, env, scope)?;
    let views = results.iter().map(typed).collect::<Outcome<Vec<DriftView>>>()?;
    Ok(remote.printer.page(&format!("{}\n", text(&views)))?)
}

/// Starts a check and waits for its end.
fn check(remote: &mut Remote<'_>, env: i64, scope: &Scope<'_>) -> Outcome {
    let mut body = json!({});
    if let Some(graph_type) = scope.graph_type {
        set(&mut body, "graph_type", graph_type);
    }
    if let Some(tasks) = scope.tasks {
        set(&mut body, "tasks", tasks);
    }
    if let Some(nodes) = scope.nodes {
        let id = |node: &String| {
            let help = "run `stoker node list` to see the IDs of nodes";
            node.parse().map_err(|_| Failure::usage(format!("invalid node ID `{node}`"), help))
        };
        set(&mut body, "nodes", nodes.iter().map(id).collect::<Outcome<Vec<i64>>>()?);
    }
    let started = remote.send_json(Method::Post, format!("clusters/{env}/drift_checks"), &body)?;
    let mut check: DriftCheckView = typed(&started)?;
    while check.status == "running" {
        pause();
        check = remote.read(format!("clusters/{env}/drift_checks/{}", check.id))?;
    }
    match check.message {
        None => Ok(()),
        Some(message) => {
            Err(Failure::failed(format!("drift check {} failed: {}", check.id, sanitize(&message))))
        }
    }
}

const PAGE_SIZE: usize = 10_000;
const DRIFTED: &str = "drifted";

/// Reads the latest results.
fn read(remote: &mut Remote<'_>, env: i64, scope: &Scope<'_>) -> Outcome<Vec<Json>> {
    let joined = |names: Option<&Vec<String>>| names.map(|names| names.join(","));
    let mut results = Vec::new();
    loop {
        let request = RestRequest::get(format!("clusters/{env}/drift"))
            .query("graph_type", scope.graph_type.unwrap_or("default"))
            .query_opt("task", joined(scope.tasks))
            .query_opt("node", joined(scope.nodes))
            .query("limit", PAGE_SIZE)
            .query("offset", results.len());
        let page = remote.get_list(&request)?;
        let is_last = page.len() < PAGE_SIZE;
        results.extend(page);
        if is_last {
            return Ok(results);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the command polls and has nothing else to do")]
fn pause() {
    std::thread::sleep(POLL);
}

fn name(view: &DriftView) -> String {
    format!("{} on {}", sanitize(&view.task), sanitize(&view.node))
}

/// Renders what is not in sync, and the number of results by status.
fn text(views: &[DriftView]) -> String {
    let mut text = String::new();
    for view in views.iter().filter(|view| view.status == DRIFTED) {
        let repair = if view.repairs { "" } else { ", not repaired (`on_drift: report`)" };
        _ = writeln!(text, "{}: drifted{repair}", name(view));
        for difference in &view.diff {
            write_difference(&mut text, difference);
        }
    }
    for view in views {
        match view.status.as_str() {
            "changed" => _ = writeln!(text, "{}: changed in configuration", name(view)),
            "unknown" => {
                let why = view.message.as_deref().map(sanitize).unwrap_or_default();
                _ = writeln!(text, "{}: unknown: {why}", name(view));
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let count = |status: &str| views.iter().filter(|view| view.status == status).count();
    _ = writeln!(
        text,
        "{} in sync, {} changed in configuration, {} drifted, {} unknown",
        count("in_sync"),
        count("changed"),
        count(DRIFTED),
        count("unknown")
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_shown_by_status() {
        let view = |task: &str, status: &str, more: Json| -> DriftView {
            let mut view = json!({
                "task": task, "node": "2", "status": status, "repairs": status == "drifted",
                "checked_at": "2026-01-31T07:00:00", "message": null, "diff": [],
            });
            for (key, value) in more.as_object().into_iter().flatten() {
                view[key] = value.clone();
            }
            serde_json::from_value(view).unwrap()
        };
        let diff = json!([
            {"subject": "/etc/nginx.conf", "attribute": "mode", "old": "0600", "new": "0644"},
            {"subject": "/etc/nginx.conf", "attribute": "content", "text": "@@ -1 +1 @@\n-a\n+b\n"},
        ]);
        let views = [
            view("config", "drifted", json!({"diff": diff})),
            view("motd", "drifted", json!({"repairs": false})),
            view("ntp", "changed", json!({})),
            view("user", "unknown", json!({"message": "the node is offline"})),
            view("web", "in_sync", json!({})),
        ];
        insta::assert_snapshot!(anstream::adapter::strip_str(&text(&views)).to_string());
    }
}
