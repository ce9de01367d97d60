//! Requests that start runs.

use stoker_diagnostics::Diagnostics;
use stoker_engine::blueprint::{FailurePolicy, StagePolicy};
use stoker_manifest::codes;
use stoker_manifest::reader::{
    boolean, enum_of, identifier, integer_in, list_of, nullable, object, report_wrong_type,
    string_with_length,
};
use stoker_model::{GraphType, NodeId};
use stoker_planner::parse_fault_tolerance;
use stoker_yaml::{Node, NodeKind, Scalar};

use crate::readers::read_graph_type;
use crate::request::request;

const VERTEX_CHARS_MAX: usize = 1000;
const NODES_AT_ONCE_MAX: i64 = 1_000_000;
const LOST_AFTER_MAX: i64 = 7 * 24 * 3600;

/// Declares a request that starts a run, with additional fields and the options of the run.
macro_rules! run_request {
    ($(#[$meta:meta])* pub struct $name:ident { $($own:tt)* }) => {
        request! {
            $(#[$meta])*
            pub struct $name {
                $($own)*
                /// Create the plan without executing it.
                dry_run: Option<bool> = nullable(boolean),
                /// Run tasks in no-op mode: agents report what tasks would change, without changing anything.
                noop_run: Option<bool> = nullable(boolean),
                /// Run all tasks regardless of previous successes.
                force: Option<bool> = nullable(boolean),
                /// Report roles that fewer nodes have than their minimum as warnings instead of errors.
                ignore_limits: Option<bool> = nullable(boolean),
                /// Verbose output of task executors.
                debug: Option<bool> = nullable(boolean),
                /// Parts of the graph to run (default: the whole graph).
                subgraphs: Option<Vec<SubgraphBody>> = nullable(list_of(object(SubgraphBody::read))),
                /// Behaviour of a node after one of its tasks has failed: `node_stops` runs no further tasks on the node,
                /// `node_continues` runs the tasks that do not depend on the failed one.
                #[schema(example = "node_stops", value_type = Option<String>)]
                on_failure: Option<FailurePolicy> = nullable(enum_of(FailurePolicy::NAMES, FailurePolicy::parse)),
                /// Whether the run passes a stage after nodes have failed before it: `pass` or `hold`.
                #[schema(example = "pass", value_type = Option<String>)]
                at_stages: Option<StagePolicy> = nullable(enum_of(StagePolicy::NAMES, StagePolicy::parse)),
                /// Number of nodes that may fail before the run stops, in addition to the limits of fault tolerance
                /// groups: `"2"`, `"10%"`, `"-1"` (all but one), or a number.
                #[schema(example = "10%", pattern = "^[+-]?[0-9]{1,9}%?$")]
                fault_tolerance: Option<String> = nullable(read_fault_tolerance),
                /// Maximum number of nodes that execute tasks concurrently.
                #[schema(example = 50, minimum = 1)]
                nodes_at_once: Option<i64> = nullable(integer_in(1..=NODES_AT_ONCE_MAX)),
                /// Seconds without heartbeat after which a node is considered failed.
                #[schema(example = 300, minimum = 1)]
                lost_after: Option<i64> = nullable(integer_in(1..=LOST_AFTER_MAX)),
            }
        }

        impl $name {
            /// Moves the options of the run out of the request.
            pub fn take_options(&mut self) -> RunOptionsBody {
                RunOptionsBody {
                    dry_run: self.dry_run,
                    noop_run: self.noop_run,
                    force: self.force,
                    debug: self.debug,
                    ignore_limits: self.ignore_limits,
                    subgraphs: self.subgraphs.take(),
                    on_failure: self.on_failure,
                    at_stages: self.at_stages,
                    fault_tolerance: self.fault_tolerance.take(),
                    nodes_at_once: self.nodes_at_once,
                    lost_after: self.lost_after,
                }
            }
        }
    };
}

run_request! {
    /// Options of a run.
    #[derive(Default)]
    #[schema(as = RunOptions)]
    pub struct RunOptionsBody {}
}

run_request! {
    #[schema(as = GraphsToRun)]
    pub struct ExecuteBody {
        /// ID of the cluster.
        #[schema(example = 1)]
        cluster: i64 = required(identifier),
        /// Graphs to run, in this order.
        #[schema(min_items = 1)]
        graphs: Vec<GraphRunBody> = required(list_of(object(GraphRunBody::read))),
    }
}

run_request! {
    #[schema(as = SequenceToRun)]
    pub struct SequenceRunBody {
        /// ID of the cluster.
        #[schema(example = 1)]
        cluster: i64 = required(identifier),
    }
}

run_request! {
    /// Run of one graph. Each field may be sent in the query instead.
    #[schema(as = ClusterRun)]
    pub struct ClusterRunBody {
        /// Type of the graph (default: `default`).
        #[schema(example = "default", value_type = Option<String>)]
        r#type: Option<GraphType> = nullable(read_graph_type),
        /// Alias of `type`.
        #[schema(example = "default", value_type = Option<String>)]
        graph_type: Option<GraphType> = nullable(read_graph_type),
        /// IDs of the nodes to run on (default: all nodes).
        #[schema(example = json!([1, 2]), value_type = Option<Vec<i64>>)]
        nodes: Option<Vec<NodeId>> = nullable(list_of(read_node_id)),
    }
}

run_request! {
    /// Run of a graph whose type the operation selects. Each field may be sent in the query instead.
    #[schema(as = FixedGraphRun)]
    pub struct FixedGraphRunBody {
        /// IDs of the nodes to run on (default: all nodes).
        #[schema(example = json!([1, 2]), value_type = Option<Vec<i64>>)]
        nodes: Option<Vec<NodeId>> = nullable(list_of(read_node_id)),
    }
}

request! {
    /// Part of a graph, between the tasks in `start` and the tasks in `end`.
    #[schema(as = Subgraph)]
    pub struct SubgraphBody {
        /// First tasks, as `task` or `task/nodes`; null for no limit.
        #[schema(example = json!(["netconfig/3"]), value_type = Vec<Option<String>>)]
        start: Option<Vec<Option<String>>> = nullable(list_of(nullable(string_with_length(1..=VERTEX_CHARS_MAX)))),
        /// Last tasks, as `task` or `task/nodes`; null for no limit.
        #[schema(example = json!(["tools"]), value_type = Vec<Option<String>>)]
        end: Option<Vec<Option<String>>> = nullable(list_of(nullable(string_with_length(1..=VERTEX_CHARS_MAX)))),
    }
}

request! {
    #[schema(as = GraphToRun)]
    pub struct GraphRunBody {
        /// Type of the graph.
        #[schema(example = "default", value_type = String)]
        r#type: GraphType = required(read_graph_type),
        /// IDs of the nodes to run on (default: all nodes).
        #[schema(example = json!([1, 2]), value_type = Option<Vec<i64>>)]
        nodes: Option<Vec<NodeId>> = nullable(list_of(read_node_id)),
        /// Names of the tasks to run (default: all tasks).
        #[schema(example = json!(["netconfig"]))]
        tasks: Option<Vec<String>> = nullable(list_of(string_with_length(1..=255))),
    }
}

/// Reads a fault tolerance in the same format as in graphs: a number, or a string with a number or
/// percentage.
fn read_fault_tolerance(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let expected = "a number or a percentage such as `10%`";
    match &node.kind {
        NodeKind::Scalar(Scalar::Int(number)) => Some(number.to_string()),
        NodeKind::Scalar(Scalar::Str(text)) if parse_fault_tolerance(text, 1).is_some() => {
            Some(text.trim().to_owned())
        }
        NodeKind::Scalar(Scalar::Str(text)) => {
            problems.error(codes::FORM, node.span, format!("must be {expected}, got `{text}`"));
            None
        }
        _ => {
            report_wrong_type(node, expected, problems);
            None
        }
    }
}

/// Reads a node ID. Some clients send IDs as strings.
fn read_node_id(node: &Node, problems: &mut Diagnostics) -> Option<NodeId> {
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
