use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value as Json, json};

use super::download::merged;
use super::local::{File, rendered};
use super::owner::{DEFAULT_TYPE, Owner, OwnerArgs};
use crate::exit::{Failure, Outcome};
use crate::input::read_text;
use crate::remote::{Format, Remote, plain};

/// Compare two graphs, task by task
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What is compared is a file, or `env:ID`, `cluster:ID`, `release:ID` or `plugin:ID`, each with `/TYPE` behind it if the
type is not the default one. `env` means all layers of a cluster, merged; `cluster` its own one. With `--file` it is
told what an upload of the file would change.

Examples:
  stoker graph diff --env 1 --type upgrade --file tasks.yaml
  stoker graph diff release:1 release:2
  stoker graph diff env:1 env:2/upgrade
  stoker graph diff old.yaml new.yaml --output json")]
pub(super) struct Args {
    /// What there was
    #[arg(value_name = "OLD", requires = "new", conflicts_with_all = ["env", "release", "plugin", "file", "graph_type"])]
    old: Option<String>,

    /// What there is now
    #[arg(value_name = "NEW")]
    new: Option<String>,

    #[command(flatten)]
    owner: OwnerArgs,

    /// Type of the graph; `default` if not given
    #[arg(id = "graph_type", long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// What would be uploaded; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let (old, new) = match (&args.old, &args.new, &args.file) {
        (Some(old), Some(new), _) => (named(old, remote)?, named(new, remote)?),
        (None, None, Some(file)) => {
            let owner = args.owner.owner()?;
            let graph_type = args.graph_type.as_deref().unwrap_or(DEFAULT_TYPE);
            (of_owner(owner, graph_type, remote)?, of_file(file, remote)?)
        }
        _ => {
            let help = "name two graphs, or one with `--env`, `--release` or `--plugin` and a `--file`";
            return Err(Failure::usage("what is to be compared?", help));
        }
    };
    let compared = compare(&old, &new);
    match remote.format() {
        Format::Table => Ok(remote.printer.page(&text(&compared))?),
        _ => remote.data(&compared),
    }
}

/// `env:1/upgrade`, or a file.
fn named(name: &str, remote: &mut Remote<'_>) -> Outcome<Vec<Json>> {
    let Some((kind, rest)) = name.split_once(':') else { return of_file(Path::new(name), remote) };
    let (id, graph_type) = rest.split_once('/').unwrap_or((rest, DEFAULT_TYPE));
    let id: i64 = match id.parse() {
        Ok(id) => id,
        Err(_) => return of_file(Path::new(name), remote),
    };
    match kind {
        "env" => Ok(list(merged(remote, id, graph_type, &[])?)),
        "cluster" => of_owner(Owner::Cluster(id), graph_type, remote),
        "release" => of_owner(Owner::Release(id), graph_type, remote),
        "plugin" => of_owner(Owner::Plugin(id), graph_type, remote),
        _ => of_file(Path::new(name), remote),
    }
}

fn of_owner(owner: Owner, graph_type: &str, remote: &mut Remote<'_>) -> Outcome<Vec<Json>> {
    Ok(list(remote.get(owner.graph_path(graph_type))?["tasks"].take()))
}

fn of_file(path: &Path, remote: &mut Remote<'_>) -> Outcome<Vec<Json>> {
    Ok(rendered(&File::read(read_text(path)?, remote.printer)?.tasks))
}

fn list(tasks: Json) -> Vec<Json> {
    if let Json::Array(tasks) = tasks { tasks } else { Vec::new() }
}

/// `{added: [task], removed: [task], changed: [{id, differences: [{path, old, new}]}]}`.
fn compare(old: &[Json], new: &[Json]) -> Json {
    let find = |tasks: &[Json], id: &Json| tasks.iter().find(|task| task["id"] == *id).cloned();
    let added: Vec<&Json> = new.iter().filter(|task| find(old, &task["id"]).is_none()).collect();
    let removed: Vec<&Json> = old.iter().filter(|task| find(new, &task["id"]).is_none()).collect();
    let mut changed = Vec::new();
    for task in new {
        let Some(before) = find(old, &task["id"]) else { continue };
        let mut differences = Vec::new();
        collect("", &once(&before), &once(task), &mut differences);
        if !differences.is_empty() {
            changed.push(json!({"id": task["id"], "differences": differences}));
        }
    }
    json!({"added": added, "removed": removed, "changed": changed})
}

/// Fields with two spellings, each once.
fn once(task: &Json) -> Json {
    const SECOND: [&str; 4] = ["task_name", "roles", "cross_depends", "cross_depended_by"];
    const FIRST: [&str; 4] = ["id", "role", "cross-depends", "cross-depended-by"];
    let mut fields: Map<String, Json> = task.as_object().cloned().unwrap_or_default();
    for (second, first) in SECOND.iter().zip(FIRST) {
        if let Some(value) = fields.shift_remove(*second) {
            fields.entry(first.to_owned()).or_insert(value);
        }
    }
    Json::Object(fields)
}

fn collect(path: &str, old: &Json, new: &Json, differences: &mut Vec<Json>) {
    if old == new {
        return;
    }
    let (Json::Object(before), Json::Object(after)) = (old, new) else {
        differences.push(json!({"path": path, "old": old, "new": new}));
        return;
    };
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        collect(&path, &old[key.as_str()], &new[key.as_str()], differences);
    }
}

const BOLD: Style = Style::new().bold();
const NEW: Style = AnsiColor::Green.on_default();
const GONE: Style = AnsiColor::Red.on_default();
const OTHER: Style = AnsiColor::Yellow.on_default();

fn text(compared: &Json) -> String {
    let mut out = String::new();
    let of = |name: &str| compared[name].as_array().cloned().unwrap_or_default();
    let (added, removed, changed) = (of("added"), of("removed"), of("changed"));
    let name = |task: &Json| plain(task["id"].as_str().unwrap_or_default());
    for task in &removed {
        _ = writeln!(out, "{GONE}- {}{GONE:#}", name(task));
    }
    for task in &added {
        let kind = plain(task["type"].as_str().unwrap_or_default());
        _ = writeln!(out, "{NEW}+ {}{NEW:#} ({kind})", name(task));
    }
    for task in &changed {
        _ = writeln!(out, "{OTHER}~ {}{OTHER:#}", name(task));
        for difference in task["differences"].as_array().into_iter().flatten() {
            let value = |value: &Json| if value.is_null() { "nothing".to_owned() } else { value.to_string() };
            let path = plain(difference["path"].as_str().unwrap_or_default());
            _ = writeln!(out, "    {path}: {} → {}", value(&difference["old"]), value(&difference["new"]));
        }
    }
    if out.is_empty() {
        return "the graphs have the same tasks".to_owned();
    }
    let (n_added, n_removed, n_changed) = (added.len(), removed.len(), changed.len());
    _ = write!(out, "\n{BOLD}{n_added} new, {n_removed} gone, {n_changed} changed{BOLD:#}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_compared_field_by_field_and_spellings_do_not_matter() {
        let old = [
            json!({"id": "a", "task_name": "a", "type": "shell", "role": ["x"], "roles": ["x"], "parameters": {"cmd": "1"}}),
            json!({"id": "b", "type": "stage"}),
        ];
        let new = [
            json!({"id": "a", "type": "shell", "roles": ["x"], "parameters": {"cmd": "2", "cwd": "/"}}),
            json!({"id": "c", "type": "stage"}),
        ];
        let compared = compare(&old, &new);
        assert_eq!(
            compared["changed"][0]["differences"],
            json!([
                {"path": "parameters.cmd", "old": "1", "new": "2"},
                {"path": "parameters.cwd", "old": null, "new": "/"},
            ])
        );
        assert_eq!((&compared["added"][0]["id"], &compared["removed"][0]["id"]), (&json!("c"), &json!("b")));
        assert_eq!(compare(&old, &old), json!({"added": [], "removed": [], "changed": []}));
    }
}
