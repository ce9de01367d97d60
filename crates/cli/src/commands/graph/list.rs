use serde_json::Value as Json;
use stoker_api_types::graphs::GraphView;
use stoker_client::RestRequest;

use super::owner::{GraphTarget, LayerArgs, Owner};
use crate::exit::Outcome;
use crate::remote::{Format, Remote, set, typed};

/// List graphs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--env`, lists the graphs that are merged for the cluster: from its release, its plugins and the cluster itself. Layer
options restrict the list.

Examples:
  stoker graph list
  stoker graph list --env 1
  stoker graph list --env 1 --cluster --plugins
  stoker graph list --release 2 --output json")]
pub(super) struct Args {
    #[command(flatten)]
    layers: LayerArgs,

    /// Filter by graph type; can be repeated or comma-separated
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
    let views: Vec<GraphView> = graphs.iter().map(typed).collect::<Outcome<_>>()?;
    if remote.format() == Format::Table {
        graphs.iter_mut().zip(&views).for_each(|(graph, view)| shorten(graph, view));
    }
    let is_selected = |view: &GraphView| {
        let model = view.relations.first().map_or("", |relation| relation.model.as_str());
        selected_layers.is_empty() || selected_layers.iter().any(|layer| layer.trim_end_matches('s') == model)
    };
    let graphs = graphs.into_iter().zip(&views).filter(|(_, view)| is_selected(view)).map(|(graph, _)| graph);
    let graphs = graphs.collect();
    remote.list(
        &[("id", "id"), ("type", "type"), ("owner", "owner"), ("tasks", "n_tasks"), ("name", "name")],
        graphs,
    )
}

/// Adds columns that summarize the graph.
fn shorten(graph: &mut Json, view: &GraphView) {
    let owner = view.relations.first().map(|relation| format!("{} {}", relation.model, relation.model_id));
    set(graph, "owner", owner);
    set(graph, "n_tasks", view.tasks.len());
}
