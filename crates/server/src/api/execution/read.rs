//! Parsing of run options and graph requests.

use stoker_api_types::execution::{
    ClusterRunBody, FixedGraphRunBody, GraphRunBody, RunOptionsBody, SubgraphBody,
};
use stoker_model::{GraphType, NodeId};
use stoker_planner::Subgraph;
use stoker_services::runs::{GraphRequest, RunOptions};

use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::query::{Query, query};

/// Converts the options of a run; omitted options get their defaults.
pub(super) fn run_options(body: RunOptionsBody) -> RunOptions {
    let default = RunOptions::default();
    let number = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
    RunOptions {
        dry_run: body.dry_run.unwrap_or(false),
        noop_run: body.noop_run.unwrap_or(false),
        force: body.force.unwrap_or(false),
        debug: body.debug.unwrap_or(false),
        ignore_limits: body.ignore_limits.unwrap_or(false),
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

/// Request for a run of one graph, from the query and the body of an operation by cluster.
pub(super) struct RunRequest {
    pub(super) graph_type: Option<GraphType>,
    pub(super) nodes: Option<Vec<String>>,
    pub(super) run_options: RunOptions,
}

/// Reads a request whose body may select the graph. An option that query and body set to different values is an error.
pub(super) fn read_run(query: Query, document: Option<&Document>) -> ApiResult<RunRequest> {
    let request = read_query(query)?;
    let Some(document) = document.filter(|document| !document.is_empty()) else { return Ok(request) };
    let mut body: ClusterRunBody = document.request()?;
    let options = body.take_options();
    let graph_type = agree("type", body.r#type, body.graph_type)?;
    merge(request, graph_type, body.nodes, options)
}

/// Reads a request for a graph whose type the operation selects.
pub(super) fn read_fixed_run(query: Query, document: Option<&Document>) -> ApiResult<RunRequest> {
    let request = read_query(query)?;
    let Some(document) = document.filter(|document| !document.is_empty()) else { return Ok(request) };
    let mut body: FixedGraphRunBody = document.request()?;
    let options = body.take_options();
    merge(request, None, body.nodes, options)
}

query! {
    /// Options of a run by cluster.
    pub(super) struct RunQuery {
        /// IDs of the nodes to run on, comma-separated (default: all nodes)
        #[param(value_type = Option<String>)]
        nodes: Option<Vec<i64>> = ids,
        /// `1` to create the plan without executing it
        #[param(value_type = Option<String>)]
        dry_run: bool = boolean,
        /// `1` to let agents report what tasks would do, without changing anything
        #[param(value_type = Option<String>)]
        noop_run: bool = boolean,
        /// `1` to run all tasks regardless of previous successes
        #[param(value_type = Option<String>)]
        force: bool = boolean,
        /// `1` for verbose output of task executors
        #[param(value_type = Option<String>)]
        debug: bool = boolean,
    }
}

query! {
    /// Options of a run that roles with fewer nodes than their minimum prevent.
    pub(super) struct LimitQuery {
        /// `1` to run although roles have fewer nodes than their minimum
        #[param(value_type = Option<String>)]
        ignore_limits: bool = boolean,
    }
}

pub(super) fn read_query(mut query: Query) -> ApiResult<RunRequest> {
    let graph_type = |name: &str| {
        query
            .text(name)
            .map(|text| {
                GraphType::new(text).map_err(|error| ApiError::bad_request(format!("`{text}`: {error}")))
            })
            .transpose()
    };
    let graph_type = agree("graph_type", graph_type("graph_type")?, graph_type("type")?)?;
    let RunQuery { nodes, dry_run, noop_run, force, debug } = RunQuery::read(&mut query);
    let LimitQuery { ignore_limits } = LimitQuery::read(&mut query);
    let nodes = nodes.map(|ids| ids.iter().map(i64::to_string).collect());
    let run_options =
        RunOptions { dry_run, noop_run, force, debug, ignore_limits, ..RunOptions::default() };
    query.finish()?;
    Ok(RunRequest { graph_type, nodes, run_options })
}

fn merge(
    query: RunRequest,
    graph_type: Option<GraphType>,
    nodes: Option<Vec<NodeId>>,
    options: RunOptionsBody,
) -> ApiResult<RunRequest> {
    let nodes = nodes.map(|ids| ids.iter().map(ToString::to_string).collect());
    let from_query = query.run_options;
    let mut run_options = run_options(options);
    run_options.dry_run |= from_query.dry_run;
    run_options.noop_run |= from_query.noop_run;
    run_options.force |= from_query.force;
    run_options.debug |= from_query.debug;
    run_options.ignore_limits |= from_query.ignore_limits;
    Ok(RunRequest {
        graph_type: agree("type", query.graph_type, graph_type)?,
        nodes: agree("nodes", query.nodes, nodes)?,
        run_options,
    })
}

/// Returns the value of an option that may be given in two places.
fn agree<T: PartialEq>(name: &str, one: Option<T>, other: Option<T>) -> ApiResult<Option<T>> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => Err(ApiError::bad_request(format!(
            "`{name}` has two different values (query, body, or the aliases `graph_type` and `type`); set only one of them"
        ))),
        (one, other) => Ok(one.or(other)),
    }
}
