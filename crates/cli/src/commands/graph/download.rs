use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use stoker_api_types::graphs::GraphView;
use stoker_client::RestRequest;
use stoker_manifest::task::alias_of;

use super::owner::{DEFAULT_TYPE, GraphTarget, LayerArgs};
use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote};
use crate::text::counted;

/// Download the tasks of a graph
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--env`, the selected layers are merged in the same way as for a run; by default, all layers are selected. The file is a list of tasks that can be
uploaded again: uploading it to the graph that it comes from changes nothing.

Examples:
  stoker graph download --env 1 --all --type upgrade --file tasks.yaml
  stoker graph download --env 1 --cluster --release
  stoker graph download --release 2 --file release.yaml
  stoker graph download --plugin 3 --output json")]
pub(super) struct Args {
    #[command(flatten)]
    layers: LayerArgs,

    /// Graph type
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, default_value = DEFAULT_TYPE)]
    graph_type: String,

    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut tasks = match args.layers.required()? {
        GraphTarget::Owner(owner) => {
            json!(remote.read::<GraphView>(owner.graph_path(&args.graph_type))?.tasks)
        }
        GraphTarget::Layers { cluster, layers } => merged(remote, cluster, &args.graph_type, &layers)?,
    };
    tasks.as_array_mut().into_iter().flatten().for_each(strip_aliases);
    if tasks.as_array().is_some_and(Vec::is_empty) {
        remote.note(&format!("no tasks of type `{}`", args.graph_type));
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
            let result = std::fs::write(path, &text);
            result.map_err(|error| Failure::unwritable(path, &error))?;
            let n_tasks = counted(tasks.as_array().map_or(0, Vec::len), "task");
            remote.note(&format!("wrote {n_tasks} to {}", path.display()));
            Ok(())
        }
    }
}

/// Removes aliases. Responses contain each field under both spellings, for old clients.
fn strip_aliases(task: &mut Json) {
    let Some(fields) = task.as_object_mut() else { return };
    if fields.get("task_name") == fields.get("id") {
        fields.shift_remove("task_name");
    }
    let names: Vec<String> = fields.keys().cloned().collect();
    for (name, alias) in names.iter().filter_map(|name| Some((name, alias_of(name)?))) {
        if fields.get(alias) == fields.get(name) {
            fields.shift_remove(alias);
        }
    }
}

/// Returns the merged tasks of some layers of a cluster; of all layers if `layers` is empty.
pub(super) fn merged(
    remote: &mut Remote<'_>,
    cluster: i64,
    graph_type: &str,
    layers: &[&str],
) -> Outcome<Json> {
    let request = RestRequest::get(format!("clusters/{cluster}/deployment_tasks"))
        .query("graph_type", graph_type)
        .query_opt("layers", (!layers.is_empty()).then(|| layers.join(",")));
    remote.send(&request)
}
