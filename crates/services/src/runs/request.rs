//! Parameters of a run, and their stored encoding.

use serde_json::json;
use stoker_engine::blueprint::{ExecutionOptions, FailurePolicy, StagePolicy};
use stoker_engine::session::Mode;
use stoker_model::{GraphType, Json, NodeId, PlanId, RunId, SequenceGraph};
use stoker_planner::Subgraph;

use crate::planning::PlanRequest;

const VERSION: u64 = 1;
/// Version of requests with `from`. Servers that do not support `from` must reject them instead of starting
/// at the beginning of the plan.
const VERSION_FROM: u64 = 2;

/// A graph to run, and its scope.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphRequest {
    pub graph_type: GraphType,
    /// Node UIDs; `None` for all nodes.
    pub nodes: Option<Vec<String>>,
    pub tasks: Option<Vec<String>>,
    /// An existing plan to execute; `None` to create one.
    pub plan: Option<PlanId>,
    /// An earlier run of the plan: only instances that did not succeed in it are executed.
    pub rest_of: Option<RunId>,
    /// References to instances of the plan, in the syntax of subgraph ends: only these and their successors
    /// are executed.
    pub from: Vec<String>,
}

impl GraphRequest {
    pub fn entire_graph(graph_type: GraphType) -> Self {
        Self { graph_type, nodes: None, tasks: None, plan: None, rest_of: None, from: Vec::new() }
    }

    /// Converts an entry of a sequence.
    pub fn of_sequence(graph: &SequenceGraph) -> Self {
        Self {
            nodes: graph.nodes.as_ref().map(|ids| ids.iter().map(ToString::to_string).collect()),
            tasks: graph.tasks.clone(),
            ..Self::entire_graph(graph.graph_type.clone())
        }
    }

    /// Restricts the graph to these nodes; `None` for all nodes.
    #[must_use]
    pub fn restricted_to(mut self, nodes: Option<&[String]>) -> Self {
        if let Some(nodes) = nodes {
            self.nodes = Some(match self.nodes {
                Some(own) => own.into_iter().filter(|uid| nodes.contains(uid)).collect(),
                None => nodes.to_vec(),
            });
        }
        self
    }

    /// Returns the planning request for this graph.
    pub fn plan_request(&self) -> PlanRequest {
        let ids = |uids: &Vec<String>| uids.iter().filter_map(|uid| NodeId::parse(uid)).collect();
        PlanRequest {
            graph_type: self.graph_type.clone(),
            nodes: self.nodes.as_ref().map(ids),
            tasks: self.tasks.clone(),
            ..PlanRequest::default()
        }
    }
}

/// Options for all graphs of a run.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own that a user names")]
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    pub dry_run: bool,
    pub noop_run: bool,
    pub force: bool,
    pub debug: bool,
    /// Reports violated minima of roles as warnings.
    pub ignore_limits: bool,
    pub subgraphs: Vec<Subgraph>,
    pub on_failure: FailurePolicy,
    pub at_stages: StagePolicy,
    /// Number or percentage of nodes of the run that may fail. The limits of fault tolerance groups also
    /// apply.
    pub fault_tolerance: Option<String>,
    /// Maximum number of nodes that execute tasks concurrently; defaults to the server's setting.
    pub max_concurrent_nodes: Option<u32>,
    /// Silence timeout of nodes in seconds; defaults to the server's setting.
    pub lost_after: Option<u32>,
}

impl Default for RunOptions {
    fn default() -> Self {
        let options = ExecutionOptions::default();
        Self {
            dry_run: false,
            noop_run: false,
            force: false,
            debug: false,
            ignore_limits: false,
            subgraphs: Vec::new(),
            on_failure: options.on_failure,
            at_stages: options.at_stages,
            fault_tolerance: None,
            max_concurrent_nodes: None,
            lost_after: None,
        }
    }
}

impl RunOptions {
    /// Reports whether tasks are executed, that is, neither a dry run nor a noop run.
    pub fn is_real(&self) -> bool {
        !self.dry_run && !self.noop_run
    }

    pub fn options(&self, defaults: &ExecutionOptions) -> ExecutionOptions {
        ExecutionOptions {
            max_concurrent_nodes: self.max_concurrent_nodes.unwrap_or(defaults.max_concurrent_nodes),
            on_failure: self.on_failure,
            at_stages: self.at_stages,
            fault_tolerance: self.fault_tolerance.clone(),
            mode: if self.noop_run { Mode::Noop } else { Mode::Normal },
            debug: self.debug,
            lost_after_ms: self
                .lost_after
                .map_or(defaults.lost_after_ms, |seconds| u64::from(seconds) * 1000),
            ..defaults.clone()
        }
    }
}

/// Encodes the parameters of a child run.
pub(super) fn encode(graph: &GraphRequest, run_options: &RunOptions) -> Json {
    json!({
        "version": if graph.from.is_empty() { VERSION } else { VERSION_FROM },
        "type": graph.graph_type.as_str(),
        "nodes": graph.nodes,
        "tasks": graph.tasks,
        "plan": graph.plan.map(|id| id.0),
        "rest_of": graph.rest_of.map(|id| id.0),
        "from": graph.from,
        "dry_run": run_options.dry_run,
        "noop_run": run_options.noop_run,
        "force": run_options.force,
        "debug": run_options.debug,
        "ignore_limits": run_options.ignore_limits,
        "subgraphs": run_options.subgraphs.iter().map(subgraph_json).collect::<Vec<_>>(),
        "on_failure": run_options.on_failure.as_str(),
        "at_stages": run_options.at_stages.as_str(),
        "fault_tolerance": run_options.fault_tolerance,
        "nodes_at_once": run_options.max_concurrent_nodes,
        "lost_after": run_options.lost_after,
    })
}

fn subgraph_json(subgraph: &Subgraph) -> Json {
    json!({"start": subgraph.start, "end": subgraph.end})
}

pub(super) fn decode(body: &Json) -> Option<(GraphRequest, RunOptions)> {
    if !matches!(body.get("version")?.as_u64()?, VERSION | VERSION_FROM) {
        return None;
    }
    let flag = |key: &str| body.get(key).and_then(Json::as_bool).unwrap_or(false);
    let texts = |key: &str| {
        let items = body.get(key)?.as_array()?.iter();
        items.map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
    };
    let number = |key: &str| body.get(key)?.as_u64().and_then(|number| u32::try_from(number).ok());
    let graph = GraphRequest {
        graph_type: GraphType::new(body.get("type")?.as_str()?).ok()?,
        nodes: texts("nodes"),
        tasks: texts("tasks"),
        plan: body.get("plan").and_then(Json::as_i64).map(PlanId),
        rest_of: body.get("rest_of").and_then(Json::as_i64).map(RunId),
        from: texts("from").unwrap_or_default(),
    };
    let run_options = RunOptions {
        dry_run: flag("dry_run"),
        noop_run: flag("noop_run"),
        force: flag("force"),
        debug: flag("debug"),
        ignore_limits: flag("ignore_limits"),
        subgraphs: body.get("subgraphs")?.as_array()?.iter().map(read_subgraph).collect(),
        on_failure: FailurePolicy::parse(body.get("on_failure")?.as_str()?)?,
        at_stages: StagePolicy::parse(body.get("at_stages")?.as_str()?)?,
        fault_tolerance: body.get("fault_tolerance").and_then(Json::as_str).map(str::to_owned),
        max_concurrent_nodes: number("nodes_at_once"),
        lost_after: number("lost_after"),
    };
    Some((graph, run_options))
}

fn read_subgraph(body: &Json) -> Subgraph {
    let names = |key: &str| {
        let items = body.get(key).and_then(Json::as_array).into_iter().flatten();
        items.filter_map(Json::as_str).map(str::to_owned).collect()
    };
    Subgraph { start: names("start"), end: names("end") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_round_trip() {
        let graph = GraphRequest {
            nodes: Some(vec!["1".to_owned(), "2".to_owned()]),
            tasks: Some(Vec::new()),
            plan: Some(PlanId(4)),
            rest_of: Some(RunId(9)),
            ..GraphRequest::entire_graph(GraphType::new("default").unwrap())
        };
        let run_options = RunOptions {
            noop_run: true,
            force: true,
            ignore_limits: true,
            subgraphs: vec![Subgraph { start: vec!["a/1".to_owned()], end: Vec::new() }],
            on_failure: FailurePolicy::NodeContinues,
            at_stages: StagePolicy::Hold,
            fault_tolerance: Some("10%".to_owned()),
            max_concurrent_nodes: Some(3),
            lost_after: Some(60),
            ..RunOptions::default()
        };
        assert_eq!(decode(&encode(&graph, &run_options)).map(|read| read.0), Some(graph.clone()));
        let read = decode(&encode(&graph, &run_options)).unwrap().1;
        assert_eq!(encode(&graph, &read), encode(&graph, &run_options));
        assert_eq!(decode(&json!({"version": 3})), None);
        let from = GraphRequest { from: vec!["a/1".to_owned()], ..graph };
        let written = encode(&from, &run_options);
        assert_eq!((decode(&written).map(|read| read.0), &written["version"]), (Some(from), &json!(2)));
    }

    /// Servers of adjacent versions take over runs from each other.
    #[test]
    fn requests_of_other_versions_are_decoded() {
        let first = json!({
            "version": 1, "type": "default", "nodes": ["1"], "tasks": null, "plan": 4, "rest_of": null, "dry_run": false,
            "noop_run": true, "force": false, "debug": false, "subgraphs": [{"start": ["a/1"], "end": []}],
            "on_failure": "node_stops", "at_stages": "pass", "nodes_at_once": 3, "lost_after": 60,
        });
        let (graph, run_options) = decode(&first).unwrap();
        let written = encode(&graph, &run_options);
        for (key, value) in first.as_object().unwrap() {
            assert_eq!(written.get(key), Some(value), "version 1 reads `{key}`");
        }
        let mut next = first;
        next["of_tomorrow"] = json!({"deep": [1]});
        let (next_graph, next_manner) = decode(&next).unwrap();
        assert_eq!(encode(&next_graph, &next_manner), written);
    }
}
