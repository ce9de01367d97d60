use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use stoker_client::Request;
use stoker_manifest::task::{VERSION_DEFAULT, alias_of};

use super::owner::{DEFAULT_TYPE, LayerArgs, Place};
use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote};
use crate::text::counted;

/// Write the tasks of a graph to a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--env` any mix of layers can be chosen: they are merged as they are for a run. Without a layer all of them
are. The file is a list of tasks, which can be uploaded again: each key once, without what is so anyway.

Examples:
  stoker graph download --env 1 --all --type upgrade --file tasks.yaml
  stoker graph download --env 1 --cluster --release
  stoker graph download --release 2 --file release.yaml
  stoker graph download --plugin 3 --output json")]
pub(super) struct Args {
    #[command(flatten)]
    layers: LayerArgs,

    /// Type of the graph
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, default_value = DEFAULT_TYPE)]
    graph_type: String,

    /// Where to; standard output if not given
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut tasks = match args.layers.required()? {
        Place::Owner(owner) => remote.get(owner.graph_path(&args.graph_type))?["tasks"].take(),
        Place::Layers { cluster, layers } => merged(remote, cluster, &args.graph_type, &layers)?,
    };
    tasks.as_array_mut().into_iter().flatten().for_each(as_written);
    if tasks.as_array().is_some_and(Vec::is_empty) {
        remote.note(&format!("there are no tasks of type `{}` there", args.graph_type));
    }
    let is_json = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
    let as_json = match remote.format() {
        Format::Json => true,
        Format::Yaml => false,
        Format::Table => args.file.as_deref().is_some_and(is_json),
    };
    let text = if as_json { format!("{tasks:#}\n") } else { stoker_manifest::to_yaml(&tasks) };
    match &args.file {
        None => Ok(remote.printer.data(&text)?),
        Some(path) => {
            let written = std::fs::write(path, &text);
            written.map_err(|error| Failure::unwritable(path, &error))?;
            let n_tasks = counted(tasks.as_array().map_or(0, Vec::len), "task");
            remote.note(&format!("wrote {n_tasks} to {}", path.display()));
            Ok(())
        }
    }
}

/// A task as somebody would write it. Answers tell every name under both spellings, for clients that know one of them.
fn as_written(task: &mut Json) {
    let Some(fields) = task.as_object_mut() else { return };
    if fields.get("task_name") == fields.get("id") {
        fields.shift_remove("task_name");
    }
    if fields.get("version").is_some_and(|version| version == VERSION_DEFAULT) {
        fields.shift_remove("version");
    }
    let names: Vec<String> = fields.keys().cloned().collect();
    for (name, alias) in names.iter().filter_map(|name| Some((name, alias_of(name)?))) {
        if fields.get(alias) == fields.get(name) {
            fields.shift_remove(alias);
        }
    }
}

/// The tasks of some layers of a cluster; of all if none is named.
pub(super) fn merged(
    remote: &mut Remote<'_>,
    cluster: i64,
    graph_type: &str,
    layers: &[&str],
) -> Outcome<Json> {
    let request = Request::get(format!("clusters/{cluster}/deployment_tasks"))
        .query("graph_type", graph_type)
        .maybe("layers", (!layers.is_empty()).then(|| layers.join(",")));
    remote.send(&request)
}
