//! What is asked of a plan.

use serde_json::json;
use stoker_model::{GraphType, Json, NodeId, PlanId, PlanRecord};
use stoker_planner::{Request, Subgraph};

use crate::graphs::PlannedGraph;

#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    pub graph_type: GraphType,
    /// Only these nodes; an empty list means none.
    pub nodes: Option<Vec<NodeId>>,
    /// Only these tasks.
    pub tasks: Option<Vec<String>>,
    /// Only what lies between these.
    pub subgraphs: Vec<Subgraph>,
    /// As if nothing had ever succeeded.
    pub force: bool,
    /// The plan after which this one is made.
    pub parent_id: Option<PlanId>,
}

impl PlanRequest {
    /// With the tasks that the chosen ones cannot do without.
    pub(super) fn to_planner(&self, graph: &PlannedGraph) -> Request {
        let with_helpers = |tasks: &Vec<String>| {
            let helpers = graph.helpers_of(tasks);
            let mut all = tasks.clone();
            all.extend(helpers.into_iter().filter(|helper| !tasks.contains(helper)));
            all
        };
        Request {
            nodes: self.nodes.as_ref().map(|nodes| nodes.iter().map(NodeId::to_string).collect()),
            tasks: self.tasks.as_ref().map(with_helpers),
            subgraphs: self.subgraphs.clone(),
            force: self.force,
        }
    }

    /// What a stored plan was asked for.
    pub(super) fn of_record(record: &PlanRecord) -> Self {
        let texts = |value: &Json| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|text| Some(text.as_str()?.to_owned()))
                .collect()
        };
        let said = &record.request;
        let nodes = said.get("nodes").and_then(Json::as_array);
        let pieces = said.get("subgraphs").and_then(Json::as_array).into_iter().flatten();
        Self {
            graph_type: record.graph_type.clone(),
            nodes: nodes.map(|nodes| nodes.iter().filter_map(Json::as_i64).map(NodeId).collect()),
            tasks: said.get("tasks").map(texts),
            subgraphs: pieces
                .map(|piece| Subgraph { start: texts(&piece["start"]), end: texts(&piece["end"]) })
                .collect(),
            force: said.get("force").and_then(Json::as_bool).unwrap_or(false),
            parent_id: record.parent_id,
        }
    }

    /// As it is kept beside the plan: what was not said is not there.
    pub(super) fn to_json(&self) -> Json {
        let mut shown = json!({"graph_type": self.graph_type.as_str(), "force": self.force});
        if let Some(nodes) = &self.nodes {
            shown["nodes"] = nodes.iter().map(|id| id.0).collect();
        }
        if let Some(tasks) = &self.tasks {
            shown["tasks"] = json!(tasks);
        }
        if !self.subgraphs.is_empty() {
            let pieces = self.subgraphs.iter();
            shown["subgraphs"] =
                pieces.map(|piece| json!({"start": piece.start, "end": piece.end})).collect();
        }
        shown
    }
}
