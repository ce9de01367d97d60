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

/// What the query or the body of a request sets.
struct RunFields {
    graph_type: Option<GraphType>,
    nodes: Option<Vec<String>>,
    options: RunOptionsBody,
}

/// Reads a request whose body may select the graph. A field that query and body set to different values is an error.
pub(super) fn read_run(query: Query, document: Option<&Document>) -> ApiResult<RunRequest> {
    let query = query_fields(query)?;
    let Some(document) = document.filter(|document| !document.is_empty()) else { return Ok(query.into()) };
    let mut body: ClusterRunBody = document.request()?;
    let options = body.take_options();
    let graph_type = agree("type", body.r#type, body.graph_type)?;
    query.merge(RunFields { graph_type, nodes: texts(body.nodes), options })
}

/// Reads a request for a graph whose type the operation selects.
pub(super) fn read_fixed_run(query: Query, document: Option<&Document>) -> ApiResult<RunRequest> {
    let query = query_fields(query)?;
    let Some(document) = document.filter(|document| !document.is_empty()) else { return Ok(query.into()) };
    let mut body: FixedGraphRunBody = document.request()?;
    let options = body.take_options();
    query.merge(RunFields { graph_type: None, nodes: texts(body.nodes), options })
}

query! {
    /// Options of a run by cluster.
    pub(super) struct RunQuery {
        /// IDs of the nodes to run on, comma-separated (default: all nodes)
        #[param(value_type = Option<String>)]
        nodes: Option<Vec<i64>> = ids,
        /// `1` to create the plan without executing it
        #[param(value_type = Option<String>)]
        dry_run: Option<bool> = flag,
        /// `1` to let agents report what tasks would do, without changing anything
        #[param(value_type = Option<String>)]
        noop_run: Option<bool> = flag,
        /// `1` to run all tasks regardless of previous successes
        #[param(value_type = Option<String>)]
        force: Option<bool> = flag,
        /// `1` for verbose output of task executors
        #[param(value_type = Option<String>)]
        debug: Option<bool> = flag,
    }
}

query! {
    /// Options of a run that roles with fewer nodes than their minimum prevent.
    pub(super) struct LimitQuery {
        /// `1` to run although roles have fewer nodes than their minimum
        #[param(value_type = Option<String>)]
        ignore_limits: Option<bool> = flag,
    }
}

/// Reads a request whose body has no options.
pub(super) fn read_query(query: Query) -> ApiResult<RunRequest> {
    query_fields(query).map(RunRequest::from)
}

fn texts(nodes: Option<Vec<NodeId>>) -> Option<Vec<String>> {
    nodes.map(|ids| ids.iter().map(ToString::to_string).collect())
}

fn query_fields(mut query: Query) -> ApiResult<RunFields> {
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
    let options =
        RunOptionsBody { dry_run, noop_run, force, debug, ignore_limits, ..RunOptionsBody::default() };
    query.finish()?;
    Ok(RunFields { graph_type, nodes, options })
}

impl RunFields {
    /// Combines the fields of a query with those of a body.
    fn merge(self, body: Self) -> ApiResult<RunRequest> {
        let (query, options) = (self.options, body.options);
        let fields = Self {
            graph_type: agree("type", self.graph_type, body.graph_type)?,
            nodes: agree("nodes", self.nodes, body.nodes)?,
            options: RunOptionsBody {
                dry_run: agree("dry_run", query.dry_run, options.dry_run)?,
                noop_run: agree("noop_run", query.noop_run, options.noop_run)?,
                force: agree("force", query.force, options.force)?,
                debug: agree("debug", query.debug, options.debug)?,
                ignore_limits: agree("ignore_limits", query.ignore_limits, options.ignore_limits)?,
                ..options
            },
        };
        Ok(fields.into())
    }
}

impl From<RunFields> for RunRequest {
    fn from(fields: RunFields) -> Self {
        let RunFields { graph_type, nodes, options } = fields;
        Self { graph_type, nodes, run_options: run_options(options) }
    }
}

/// Returns the value of a field that may be given in two places.
fn agree<T: PartialEq>(name: &str, one: Option<T>, other: Option<T>) -> ApiResult<Option<T>> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => Err(ApiError::bad_request(format!(
            "`{name}` has two different values (query, body, or the aliases `graph_type` and `type`); set only one of them"
        ))),
        (one, other) => Ok(one.or(other)),
    }
}
