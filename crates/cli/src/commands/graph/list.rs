use serde_json::{Value as Json, json};
use stoker_client::RestRequest;

use super::owner::{GraphTarget, LayerArgs, Owner};
use crate::exit::Outcome;
use crate::remote::{Format, Remote, cell};

/// List graphs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--env`, lists the graphs that are merged for the cluster: its own and those of its release and plugins. Layer
options restrict the list.

Examples:
  stoker graph list
  stoker graph list --env 1
  stoker graph list --env 1 --cluster --plugins
  stoker graph list --release 2 --output json")]
pub(super) struct Args {
    #[command(flatten)]
    layers: LayerArgs,

    /// Filter by graph type; can be repeated
    #[arg(long = "type", short = 't', value_name = "TYPE", value_parser = crate::input::graph_type, value_delimiter = ',')]
    types: Vec<String>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let types = (!args.types.is_empty()).then(|| args.types.join(","));
    let mut request = RestRequest::get("graphs").query_opt("graph_types", types);
    let mut selected_layers: Vec<&'static str> = Vec::new();
    match args.layers.target()? {
        None => {}
        Some(GraphTarget::Owner(Owner::Release(id))) => request = request.query("releases_ids", id),
        Some(GraphTarget::Owner(Owner::Plugin(id))) => request = request.query("plugins_ids", id),
        Some(GraphTarget::Owner(Owner::Cluster(id))) => request = request.query("clusters_ids", id),
        Some(GraphTarget::Layers { cluster, layers }) => {
            // The list of a missing cluster is empty; request the cluster to report the error.
            remote.get(format!("clusters/{cluster}"))?;
            request = request.query("clusters_ids", cluster).query("fetch_related", 1);
            selected_layers = layers;
        }
    }
    let mut graphs = remote.get_list(&request)?;
    graphs.retain(|graph| {
        let model = graph["relations"][0]["model"].as_str().unwrap_or_default();
        selected_layers.is_empty() || selected_layers.iter().any(|layer| layer.trim_end_matches('s') == model)
    });
    if remote.format() == Format::Table {
        graphs.iter_mut().for_each(shorten);
    }
    remote.list(
        &[("id", "id"), ("type", "type"), ("owner", "owner"), ("tasks", "n_tasks"), ("name", "name")],
        graphs,
    )
}

fn shorten(graph: &mut Json) {
    let relation = &graph["relations"][0];
    let owner = format!("{} {}", cell(&relation["model"]), cell(&relation["model_id"]));
    let n_tasks = graph["tasks"].as_array().map_or(0, Vec::len);
    graph["owner"] = json!(owner);
    graph["n_tasks"] = json!(n_tasks);
}
