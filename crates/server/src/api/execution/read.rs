//! Parsing of run options and graph requests.

use stoker_api_types::execution::{GraphRunBody, RunOptionsBody, SubgraphBody};
use stoker_model::GraphType;
use stoker_planner::Subgraph;
use stoker_services::runs::{GraphRequest, RunOptions};

use crate::http::error::{ApiError, ApiResult};
use crate::http::query::Query;

/// Converts the options of a run; omitted options get their defaults.
pub(super) fn run_options(body: RunOptionsBody) -> RunOptions {
    let default = RunOptions::default();
    let number = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
    RunOptions {
        dry_run: body.dry_run.unwrap_or(false),
        noop_run: body.noop_run.unwrap_or(false),
        force: body.force.unwrap_or(false),
        debug: body.debug.unwrap_or(false),
        subgraphs: body.subgraphs.into_iter().flatten().map(subgraph).collect(),
        on_failure: body.on_failure.unwrap_or(default.on_failure),
        at_stages: body.at_stages.unwrap_or(default.at_stages),
        fault_tolerance: body.fault_tolerance,
        max_concurrent_nodes: number(body.nodes_at_once),
        lost_after: number(body.lost_after),
    }
}

/// Converts a subgraph. Clients send an open end as a list that contains null.
pub(in crate::api) fn subgraph(body: SubgraphBody) -> Subgraph {
    let names = |names: Option<Vec<Option<String>>>| names.into_iter().flatten().flatten().collect();
    Subgraph { start: names(body.start), end: names(body.end) }
}

/// Converts an entry of `graphs`.
pub(super) fn graph(body: GraphRunBody) -> GraphRequest {
    let nodes = body.nodes.map(|ids| ids.iter().map(ToString::to_string).collect());
    GraphRequest { nodes, tasks: body.tasks, ..GraphRequest::entire_graph(body.r#type) }
}

/// Run request in the query of an operation by cluster.
pub(super) struct RunQuery {
    pub(super) graph_type: Option<GraphType>,
    pub(super) nodes: Option<Vec<String>>,
    pub(super) run_options: RunOptions,
}

pub(super) fn read_query(mut query: Query) -> ApiResult<RunQuery> {
    let text = |name: &str| query.text(name).map(str::to_owned);
    let graph_type = match (text("graph_type"), text("type")) {
        (Some(graph_type), Some(alias)) if graph_type != alias => {
            return Err(ApiError::bad_request(
                "`graph_type` and its alias `type` differ; set only one of them",
            ));
        }
        (graph_type, alias) => graph_type.or(alias),
    };
    let graph_type = graph_type
        .map(|name| {
            GraphType::new(&name).map_err(|error| ApiError::bad_request(format!("`{name}`: {error}")))
        })
        .transpose()?;
    let nodes = query.ids("nodes").map(|ids| ids.iter().map(i64::to_string).collect());
    let run_options = RunOptions {
        dry_run: query.boolean("dry_run"),
        noop_run: query.boolean("noop_run"),
        force: query.boolean("force"),
        debug: query.boolean("debug"),
        ..RunOptions::default()
    };
    query.finish()?;
    Ok(RunQuery { graph_type, nodes, run_options })
}
