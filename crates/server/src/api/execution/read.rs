//! Parsing of run options and graph requests.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::reader::{
    Fields, boolean, integer_in, list_of, nullable, object, string_with_length, enum_of, report_wrong_type,
};
use stoker_manifest::codes;
use stoker_model::{GraphType, NodeId};
use stoker_orchestrator::runs::{
    AT_STAGES, GraphRequest, ON_FAILURE, RunOptions, parse_at_stages, parse_on_failure,
};
use stoker_planner::{Subgraph, parse_fault_tolerance};
use stoker_yaml::{Node, NodeKind, Scalar};
use utoipa::ToSchema;

use crate::http::error::{ApiError, ApiResult};
use crate::http::query::Query;

const NAME_CHARS_MAX: usize = 255;
const NODES_AT_ONCE_MAX: i64 = 1_000_000;
const LOST_AFTER_MAX: i64 = 7 * 24 * 3600;

/// Part of a graph, between the tasks in `start` and the tasks in `end`.
#[derive(ToSchema)]
#[schema(as = Subgraph)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct SubgraphBody {
    /// First tasks, as `task` or `task/nodes`; null for no limit.
    #[schema(example = json!(["netconfig/3"]))]
    start: Vec<Option<String>>,
    /// Last tasks, as `task` or `task/nodes`; null for no limit.
    #[schema(example = json!(["tools"]))]
    end: Vec<Option<String>>,
}

/// Options of a run.
#[derive(ToSchema)]
#[schema(as = RunOptions)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct RunOptionsBody {
    /// Create the plan without executing it.
    dry_run: Option<bool>,
    /// Let agents report what tasks would do, without changing anything.
    noop_run: Option<bool>,
    /// Run all tasks regardless of previous successes.
    force: Option<bool>,
    /// Verbose output of task executors.
    debug: Option<bool>,
    /// Parts of the graph to run (default: the whole graph).
    subgraphs: Option<Vec<SubgraphBody>>,
    /// Behavior of a node after one of its tasks has failed: `node_stops` runs no further tasks on the node,
    /// `node_continues` runs the tasks that do not depend on the failed one.
    #[schema(example = "node_stops")]
    on_failure: Option<String>,
    /// Whether the run passes a stage after nodes have failed before it: `pass` or `hold`.
    #[schema(example = "pass")]
    at_stages: Option<String>,
    /// Number of nodes that may fail before the run stops, in addition to the limits of fault tolerance
    /// groups: `"2"`, `"10%"`, `"-1"` (all but one), or a number.
    #[schema(example = "10%", pattern = "^[+-]?[0-9]{1,9}%?$")]
    fault_tolerance: Option<String>,
    /// Maximum number of nodes that execute tasks concurrently.
    #[schema(example = 50, minimum = 1)]
    nodes_at_once: Option<i64>,
    /// Seconds without heartbeat after which a node is considered failed.
    #[schema(example = 300, minimum = 1)]
    lost_after: Option<i64>,
}

pub(super) fn run_options(fields: &mut Fields<'_, '_>) -> RunOptions {
    let flag =
        |fields: &mut Fields<'_, '_>, key| fields.optional(key, nullable(boolean)).flatten().unwrap_or(false);
    let default = RunOptions::default();
    let number = |fields: &mut Fields<'_, '_>, key, max| {
        let read = fields.optional(key, nullable(integer_in(1..=max))).flatten();
        read.and_then(|number| u32::try_from(number).ok())
    };
    RunOptions {
        dry_run: flag(fields, "dry_run"),
        noop_run: flag(fields, "noop_run"),
        force: flag(fields, "force"),
        debug: flag(fields, "debug"),
        subgraphs: fields.optional("subgraphs", nullable(list_of(subgraph))).flatten().unwrap_or_default(),
        on_failure: fields
            .optional("on_failure", nullable(enum_of(ON_FAILURE, parse_on_failure)))
            .flatten()
            .unwrap_or(default.on_failure),
        at_stages: fields
            .optional("at_stages", nullable(enum_of(AT_STAGES, parse_at_stages)))
            .flatten()
            .unwrap_or(default.at_stages),
        fault_tolerance: fields.optional("fault_tolerance", nullable(fault_tolerance)).flatten(),
        max_concurrent_nodes: number(fields, "nodes_at_once", NODES_AT_ONCE_MAX),
        lost_after: number(fields, "lost_after", LOST_AFTER_MAX),
    }
}

/// Parses a fault tolerance in the same format as in graphs: a number, or a string with a number or
/// percentage.
fn fault_tolerance(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let expected = "a number or a percentage such as `10%`";
    match &node.kind {
        NodeKind::Scalar(Scalar::Int(number)) => Some(number.to_string()),
        NodeKind::Scalar(Scalar::Str(text)) if parse_fault_tolerance(text, 1).is_some() => {
            Some(text.trim().to_owned())
        }
        NodeKind::Scalar(Scalar::Str(text)) => {
            problems.error(codes::FORM, node.span, format!("must be {expected}, this is `{text}`"));
            None
        }
        _ => {
            report_wrong_type(node, expected, problems);
            None
        }
    }
}

/// Parses a subgraph. Clients send an open end as a list that contains null.
fn subgraph(node: &Node, problems: &mut Diagnostics) -> Option<Subgraph> {
    object(|fields| {
        let names = |fields: &mut Fields<'_, '_>, key| {
            let read =
                fields.optional(key, nullable(list_of(nullable(string_with_length(1..=NAME_CHARS_MAX))))).flatten();
            read.unwrap_or_default().into_iter().flatten().collect()
        };
        Some(Subgraph { start: names(fields, "start"), end: names(fields, "end") })
    })(node, problems)
}

/// Parses an entry of `graphs`.
pub(super) fn graph(node: &Node, problems: &mut Diagnostics) -> Option<GraphRequest> {
    object(|fields| {
        let graph_type = fields.required("type", graph_type);
        let nodes = fields.optional("nodes", nullable(list_of(node_id))).flatten();
        let tasks = fields.optional("tasks", nullable(list_of(string_with_length(1..=NAME_CHARS_MAX)))).flatten();
        let nodes = nodes.map(|ids| ids.iter().map(NodeId::to_string).collect());
        Some(GraphRequest { nodes, tasks, ..GraphRequest::entire_graph(graph_type?) })
    })(node, problems)
}

pub(super) fn graph_type(node: &Node, problems: &mut Diagnostics) -> Option<GraphType> {
    let text = string_with_length(1..=NAME_CHARS_MAX)(node, problems)?;
    match GraphType::new(&text) {
        Ok(graph_type) => Some(graph_type),
        Err(error) => {
            problems.error(codes::FORM, node.span, error.to_string());
            None
        }
    }
}

/// Parses a node ID. Some clients send IDs as strings.
fn node_id(node: &Node, problems: &mut Diagnostics) -> Option<NodeId> {
    let id = match &node.kind {
        NodeKind::Scalar(Scalar::Str(text)) => NodeId::parse(text),
        NodeKind::Scalar(Scalar::Int(id)) => (*id > 0).then_some(NodeId(*id)),
        _ => None,
    };
    if id.is_none() {
        problems.error(codes::FORM, node.span, "must be the id of a node");
    }
    id
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
