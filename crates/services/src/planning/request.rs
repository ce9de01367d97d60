//! Planning request.

use serde_json::json;
use stoker_model::{AgentUid, GraphType, Json, NodeId, PlanId, PlanRecord};
use stoker_planner::{PlanScope, Subgraph};

use crate::graphs::PlannedGraph;

#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    pub graph_type: GraphType,
    /// Limits the plan to these nodes; an empty list selects none.
    pub nodes: Option<Vec<NodeId>>,
    /// Limits the plan to these tasks.
    pub tasks: Option<Vec<String>>,
    /// Limits the plan to tasks between these start and end tasks.
    pub subgraphs: Vec<Subgraph>,
    /// Plans as if no task had succeeded before.
    pub force: bool,
    /// Reports violated minima of roles as warnings.
    pub ignore_limits: bool,
    /// Plan that is applied before this one, and that is assumed to succeed.
    pub parent_id: Option<PlanId>,
    /// Marked nodes that leave the cluster when the plan is applied.
    pub removals: Vec<NodeId>,
    /// Agents whose machines could not be compared with those that applied states describe; not stored.
    pub unverified: Vec<AgentUid>,
}

impl PlanRequest {
    /// Reports whether the plan covers all changes of the cluster, including the removal of nodes.
    pub(super) fn covers_cluster(&self) -> bool {
        self.graph_type == GraphType::default()
            && self.nodes.is_none()
            && self.tasks.is_none()
            && self.subgraphs.is_empty()
    }

    /// Converts to a planner scope and adds the generated tasks that the selected ones require.
    pub(super) fn to_planner(&self, graph: &PlannedGraph) -> PlanScope {
        let with_helpers = |tasks: &Vec<String>| {
            let helpers = graph.helpers_of(tasks);
            let mut all = tasks.clone();
            all.extend(helpers.into_iter().filter(|helper| !tasks.contains(helper)));
            all
        };
        PlanScope {
            nodes: self.nodes.as_ref().map(|nodes| nodes.iter().map(NodeId::to_string).collect()),
            tasks: self.tasks.as_ref().map(with_helpers),
            subgraphs: self.subgraphs.clone(),
            force: self.force,
        }
    }

    /// Returns the request of a stored plan.
    pub(super) fn of_record(record: &PlanRecord) -> Self {
        let texts = |value: &Json| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|text| Some(text.as_str()?.to_owned()))
                .collect()
        };
        let request = &record.request;
        let ids = |key: &str| -> Option<Vec<NodeId>> {
            let ids = request.get(key)?.as_array()?;
            Some(ids.iter().filter_map(Json::as_i64).map(NodeId).collect())
        };
        let subgraphs = request.get("subgraphs").and_then(Json::as_array).into_iter().flatten();
        Self {
            graph_type: record.graph_type.clone(),
            nodes: ids("nodes"),
            tasks: request.get("tasks").map(texts),
            subgraphs: subgraphs
                .map(|subgraph| Subgraph { start: texts(&subgraph["start"]), end: texts(&subgraph["end"]) })
                .collect(),
            force: request.get("force").and_then(Json::as_bool).unwrap_or(false),
            ignore_limits: request.get("ignore_limits").and_then(Json::as_bool).unwrap_or(false),
            parent_id: record.parent_id,
            removals: ids("removals").unwrap_or_default(),
            unverified: Vec::new(),
        }
    }

    /// Stored form; options that were not set are omitted.
    pub(super) fn to_json(&self) -> Json {
        let mut json = json!({"graph_type": self.graph_type.as_str(), "force": self.force});
        if let Some(nodes) = &self.nodes {
            json["nodes"] = nodes.iter().map(|id| id.0).collect();
        }
        if let Some(tasks) = &self.tasks {
            json["tasks"] = json!(tasks);
        }
        if self.ignore_limits {
            json["ignore_limits"] = true.into();
        }
        if !self.removals.is_empty() {
            json["removals"] = self.removals.iter().map(|id| id.0).collect();
        }
        if !self.subgraphs.is_empty() {
            let subgraphs = self.subgraphs.iter();
            json["subgraphs"] =
                subgraphs.map(|subgraph| json!({"start": subgraph.start, "end": subgraph.end})).collect();
        }
        json
    }
}
