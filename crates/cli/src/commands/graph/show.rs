use serde::Deserialize;
use serde_json::json;
use stoker_api_types::graphs::GraphTaskView;
use stoker_client::RestRequest;

use super::owner::{DEFAULT_TYPE, GraphTarget, LayerArgs};
use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote, sanitize, set, typed};

/// Show the tasks of a graph and the layers that define them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--env`, shows the merged graph of the cluster; `set by` lists the layers that define the attributes of a task. With
`--output json` or `yaml`, shows all attributes and the layer of each.

Examples:
  stoker graph show --env 1
  stoker graph show --env 1 --type upgrade --task install --output yaml
  stoker graph show --release 2
  stoker graph show 12")]
pub(super) struct Args {
    /// Graph ID, instead of `--env`, `--release` or `--plugin`
    #[arg(value_name = "GRAPH", conflicts_with_all = ["env", "release", "plugin", "graph_type"])]
    graph: Option<i64>,

    #[command(flatten)]
    layers: LayerArgs,

    /// Graph type
    #[arg(id = "graph_type", long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, default_value = DEFAULT_TYPE)]
    graph_type: String,

    /// Name of the task to show [default: all tasks]
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let graph = match (args.graph, args.layers.target()?) {
        (Some(id), _) => remote.get(format!("graphs/{id}"))?,
        (None, Some(GraphTarget::Owner(owner))) => remote.get(owner.graph_path(&args.graph_type))?,
        (None, Some(GraphTarget::Layers { cluster, layers })) => {
            let request = RestRequest::get(format!("clusters/{cluster}/deployment_tasks"))
                .query("graph_type", &args.graph_type)
                .query("provenance", 1)
                .query_opt("layers", (!layers.is_empty()).then(|| layers.join(",")));
            let tasks = remote.send(&request)?;
            json!({"type": args.graph_type, "cluster": cluster, "tasks": tasks})
        }
        (None, None) => {
            let help = "pass its ID, or `--env ID`, `--release ID` or `--plugin ID`";
            return Err(Failure::usage("no graph selected", help));
        }
    };
    let mut graph = graph;
    let TaskList { mut tasks } = typed(&graph)?;
    tasks.retain(|task| args.task.as_deref().is_none_or(|name| task.id == name));
    if let (Some(name), true) = (&args.task, tasks.is_empty()) {
        return Err(Failure::failed(format!("task `{name}` not found in this graph")));
    }
    if remote.format() != Format::Table {
        set(&mut graph, "tasks", tasks);
        return remote.data(&graph);
    }
    let row = |task: &GraphTaskView| {
        let mut row = json!(task);
        set(&mut row, "set_by", layers_of(task));
        row
    };
    remote.list(
        &[
            ("task", "id"),
            ("type", "type"),
            ("roles", "roles"),
            ("requires", "requires"),
            ("required for", "required_for"),
            ("set by", "set_by"),
        ],
        tasks.iter().map(row).collect(),
    )
}

/// Tasks of a graph, or of a merged graph.
#[derive(Deserialize)]
struct TaskList {
    tasks: Vec<GraphTaskView>,
}

/// Returns the distinct layers that define attributes of the task.
fn layers_of(task: &GraphTaskView) -> Vec<String> {
    let mut layers: Vec<String> = Vec::new();
    for (_, source) in task.provenance.iter().flatten() {
        let layer = match &source.plugin {
            None => sanitize(&source.layer),
            Some(plugin) => format!("plugin {}", sanitize(plugin)),
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
    layers
}
