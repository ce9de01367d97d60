use serde_json::{Value as Json, json};
use stoker_client::Request;

use super::owner::{DEFAULT_TYPE, LayerArgs, Place};
use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote, cell};

/// Show the tasks of a graph, and which layer set what
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--env` this is the merged graph of the cluster: `set by` names the layers that a task has its attributes from.
`--output json` and `yaml` show everything, with the layer of every attribute.

Examples:
  stoker graph show --env 1
  stoker graph show --env 1 --type upgrade --task install --output yaml
  stoker graph show --release 2
  stoker graph show 12")]
pub(super) struct Args {
    /// Id of the graph
    #[arg(value_name = "GRAPH", conflicts_with_all = ["env", "release", "plugin", "graph_type"])]
    graph: Option<i64>,

    #[command(flatten)]
    layers: LayerArgs,

    /// Type of the graph
    #[arg(id = "graph_type", long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, default_value = DEFAULT_TYPE)]
    graph_type: String,

    /// Only this task
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let shown = match (args.graph, args.layers.place()?) {
        (Some(id), _) => remote.get(format!("graphs/{id}"))?,
        (None, Some(Place::Owner(owner))) => remote.get(owner.graph_path(&args.graph_type))?,
        (None, Some(Place::Layers { cluster, layers })) => {
            let request = Request::get(format!("clusters/{cluster}/deployment_tasks"))
                .query("graph_type", &args.graph_type)
                .query("provenance", 1)
                .maybe("layers", (!layers.is_empty()).then(|| layers.join(",")));
            let tasks = remote.send(&request)?;
            json!({"type": args.graph_type, "cluster": cluster, "tasks": tasks})
        }
        (None, None) => {
            let help = "give its id, or add `--env ID`, `--release ID` or `--plugin ID`";
            return Err(Failure::usage("which graph?", help));
        }
    };
    let mut shown = shown;
    let all = shown["tasks"].as_array().cloned().unwrap_or_default();
    let is_wanted = |task: &Json| args.task.as_deref().is_none_or(|name| task["id"] == name);
    let mut tasks: Vec<Json> = all.into_iter().filter(is_wanted).collect();
    if let (Some(name), true) = (&args.task, tasks.is_empty()) {
        return Err(Failure::failed(format!("there is no task `{name}` in this graph")));
    }
    if remote.format() != Format::Table {
        shown["tasks"] = Json::Array(tasks);
        return remote.data(&shown);
    }
    tasks.iter_mut().for_each(shorten);
    remote.list(
        &[
            ("task", "id"),
            ("type", "type"),
            ("roles", "roles"),
            ("requires", "requires"),
            ("required for", "required_for"),
            ("set by", "set_by"),
        ],
        tasks,
    )
}

/// The layers that an attribute came from, each once.
fn shorten(task: &mut Json) {
    let mut layers: Vec<String> = Vec::new();
    for from in task["provenance"].as_object().into_iter().flat_map(serde_json::Map::values) {
        let layer = match &from["plugin"] {
            Json::Null => cell(&from["layer"]),
            plugin => format!("plugin {}", cell(plugin)),
        };
        if !layers.contains(&layer) {
            layers.push(layer);
        }
    }
    layers.sort_by_key(|layer| match layer.as_str() {
        "release" => 0,
        "cluster" => 1,
        _ => 2,
    });
    task["set_by"] = json!(layers);
}
