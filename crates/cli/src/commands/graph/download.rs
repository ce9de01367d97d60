use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use stoker_client::Request;

use super::owner::{DEFAULT_TYPE, LayerArgs, Place};
use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote};
use crate::text::counted;

/// Write the tasks of a graph to a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--env` any mix of layers can be chosen: they are merged as they are for a run. Without a layer all of them
are. The file is a list of tasks, which can be uploaded again.

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
    let tasks = match args.layers.required()? {
        Place::Owner(owner) => remote.get(owner.graph_path(&args.graph_type))?["tasks"].take(),
        Place::Layers { cluster, layers } => merged(remote, cluster, &args.graph_type, &layers)?,
    };
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
