use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use stoker_api_types::graphs::GraphView;

use super::download::merged;
use super::local::{File, render_tasks};
use super::owner::{DEFAULT_TYPE, Owner, OwnerArgs};
use crate::exit::{Failure, Outcome};
use crate::input::read_text;
use crate::remote::{Format, Remote, sanitize};

/// Compare two graphs task by task
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A graph is a file, `env:ID`, `cluster:ID`, `release:ID` or `plugin:ID`; append `/TYPE` for a graph type other than
`default`. `env` is the merged graph of a cluster, `cluster` only its cluster layer. With `--file`, shows what uploading the
file would change.

Examples:
  stoker graph diff --env 1 --type upgrade --file tasks.yaml
  stoker graph diff release:1 release:2
  stoker graph diff env:1 env:2/upgrade
  stoker graph diff old.yaml new.yaml --output json")]
pub(super) struct Args {
    /// Old graph: a file or `OWNER:ID[/TYPE]`
    #[arg(value_name = "OLD", requires = "new", conflicts_with_all = ["env", "release", "plugin", "file", "graph_type"])]
    old: Option<String>,

    /// New graph: a file or `OWNER:ID[/TYPE]`
    #[arg(value_name = "NEW")]
    new: Option<String>,

    #[command(flatten)]
    owner: OwnerArgs,

    /// Graph type [default: default]
    #[arg(id = "graph_type", long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type)]
    graph_type: Option<String>,

    /// Graph file to compare with the stored graph; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let (old, new) = match (&args.old, &args.new, &args.file) {
        (Some(old), Some(new), _) => (load_tasks(old, remote)?, load_tasks(new, remote)?),
        (None, None, Some(file)) => {
            let owner = args.owner.owner()?;
            let graph_type = args.graph_type.as_deref().unwrap_or(DEFAULT_TYPE);
            (owner_tasks(owner, graph_type, remote)?, file_tasks(file, remote)?)
        }
        _ => {
            let help = "pass two graphs, or `--file` with `--env`, `--release` or `--plugin`";
            return Err(Failure::usage("no graphs to compare", help));
        }
    };
    let difference = compare(&old, &new);
    match remote.format() {
        Format::Table => Ok(remote.printer.page(&text(&difference))?),
        _ => remote.data(&json!(difference)),
    }
}

/// Loads the tasks of a graph reference such as `env:1/upgrade`, or of a file.
fn load_tasks(name: &str, remote: &mut Remote<'_>) -> Outcome<Vec<Json>> {
    let Some((prefix, rest)) = name.split_once(':') else { return file_tasks(Path::new(name), remote) };
    let (id, graph_type) = rest.split_once('/').unwrap_or((rest, DEFAULT_TYPE));
    let id: i64 = match id.parse() {
        Ok(id) => id,
        Err(_) => return file_tasks(Path::new(name), remote),
    };
    match prefix {
        "env" => Ok(list(merged(remote, id, graph_type, &[])?)),
        "cluster" => owner_tasks(Owner::Cluster(id), graph_type, remote),
        "release" => owner_tasks(Owner::Release(id), graph_type, remote),
        "plugin" => owner_tasks(Owner::Plugin(id), graph_type, remote),
        _ => file_tasks(Path::new(name), remote),
    }
}

fn owner_tasks(owner: Owner, graph_type: &str, remote: &mut Remote<'_>) -> Outcome<Vec<Json>> {
    Ok(remote.read::<GraphView>(owner.graph_path(graph_type))?.tasks.iter().map(|task| json!(task)).collect())
}

fn file_tasks(path: &Path, remote: &mut Remote<'_>) -> Outcome<Vec<Json>> {
    Ok(render_tasks(&File::read(read_text(path)?, remote.printer)?.tasks))
}

fn list(tasks: Json) -> Vec<Json> {
    if let Json::Array(tasks) = tasks { tasks } else { Vec::new() }
}

/// Differences between two graphs.
#[derive(Serialize)]
struct GraphDifference<'t> {
    added: Vec<&'t Json>,
    removed: Vec<&'t Json>,
    changed: Vec<ChangedTask>,
}

#[derive(Serialize)]
struct ChangedTask {
    id: Json,
    differences: Vec<FieldDifference>,
}

#[derive(Serialize)]
struct FieldDifference {
    path: String,
    old: Json,
    new: Json,
}

fn compare<'t>(old: &'t [Json], new: &'t [Json]) -> GraphDifference<'t> {
    let find = |tasks: &'t [Json], task: &Json| tasks.iter().find(|other| task_id(other) == task_id(task));
    let added = new.iter().filter(|task| find(old, task).is_none()).collect();
    let removed = old.iter().filter(|task| find(new, task).is_none()).collect();
    let mut changed = Vec::new();
    for task in new {
        let Some(before) = find(old, task) else { continue };
        let mut differences = Vec::new();
        collect("", &without_aliases(before), &without_aliases(task), &mut differences);
        if !differences.is_empty() {
            changed.push(ChangedTask { id: task_id(task).clone(), differences });
        }
    }
    GraphDifference { added, removed, changed }
}

fn task_id(task: &Json) -> &Json {
    task.get("id").unwrap_or(&Json::Null)
}

/// Removes aliases, so that a field with two spellings is compared once.
fn without_aliases(task: &Json) -> Json {
    const ALIASES: [&str; 4] = ["task_name", "roles", "cross_depends", "cross_depended_by"];
    const CANONICAL: [&str; 4] = ["id", "role", "cross-depends", "cross-depended-by"];
    let mut fields: Map<String, Json> = task.as_object().cloned().unwrap_or_default();
    for (alias, canonical) in ALIASES.iter().zip(CANONICAL) {
        if let Some(value) = fields.shift_remove(*alias) {
            fields.entry(canonical.to_owned()).or_insert(value);
        }
    }
    Json::Object(fields)
}

fn collect(path: &str, old: &Json, new: &Json, differences: &mut Vec<FieldDifference>) {
    if old == new {
        return;
    }
    let (Json::Object(before), Json::Object(after)) = (old, new) else {
        differences.push(FieldDifference { path: path.to_owned(), old: old.clone(), new: new.clone() });
        return;
    };
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        collect(&path, &old[key.as_str()], &new[key.as_str()], differences);
    }
}

const BOLD: Style = Style::new().bold();
const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();

fn text(difference: &GraphDifference<'_>) -> String {
    let mut out = String::new();
    let GraphDifference { added, removed, changed } = difference;
    let name = |id: &Json| sanitize(id.as_str().unwrap_or_default());
    for task in removed {
        _ = writeln!(out, "{REMOVED}- {}{REMOVED:#}", name(task_id(task)));
    }
    for task in added {
        let task_type = sanitize(task.get("type").and_then(Json::as_str).unwrap_or_default());
        _ = writeln!(out, "{ADDED}+ {}{ADDED:#} ({task_type})", name(task_id(task)));
    }
    for task in changed {
        _ = writeln!(out, "{CHANGED}~ {}{CHANGED:#}", name(&task.id));
        for FieldDifference { path, old, new } in &task.differences {
            let value = |value: &Json| if value.is_null() { "(none)".to_owned() } else { value.to_string() };
            _ = writeln!(out, "    {}: {} → {}", sanitize(path), value(old), value(new));
        }
    }
    if out.is_empty() {
        return "no differences".to_owned();
    }
    let (n_added, n_removed, n_changed) = (added.len(), removed.len(), changed.len());
    _ = write!(out, "\n{BOLD}{n_added} to add, {n_changed} to change, {n_removed} to remove{BOLD:#}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_compared_by_field_regardless_of_aliases() {
        let old = [
            json!({"id": "a", "task_name": "a", "type": "shell", "role": ["x"], "roles": ["x"], "parameters": {"cmd": "1"}}),
            json!({"id": "b", "type": "stage"}),
        ];
        let new = [
            json!({"id": "a", "type": "shell", "roles": ["x"], "parameters": {"cmd": "2", "cwd": "/"}}),
            json!({"id": "c", "type": "stage"}),
        ];
        let difference = json!(compare(&old, &new));
        assert_eq!(
            difference.pointer("/changed/0/differences"),
            Some(&json!([
                {"path": "parameters.cmd", "old": "1", "new": "2"},
                {"path": "parameters.cwd", "old": null, "new": "/"},
            ]))
        );
        assert_eq!(difference.pointer("/added/0/id"), Some(&json!("c")));
        assert_eq!(difference.pointer("/removed/0/id"), Some(&json!("b")));
        assert_eq!(json!(compare(&old, &old)), json!({"added": [], "removed": [], "changed": []}));
    }
}
