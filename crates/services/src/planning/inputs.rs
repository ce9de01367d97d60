//! Input of the planner, computed from the records that were read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use stoker_model::{ClusterId, JsonMap, Node, NodeId, OnDefinitionChange};
use stoker_planner::{
    EvaluationSettings, InputsKey, NodeInput, PlanningInput, SettledDocuments, StateAfterRun,
};
use stoker_state::{
    AppliedStates, DesiredState, Document, DocumentInterner, NodeState, Secrets, Settled, SourceDigests,
    document, intern_document, set_status, settle_common, settled,
};
use stoker_yaql::Library;

use super::gather::PlanRecords;
use super::old::NewDocuments;
use super::request::PlanRequest;
use super::sources::{Files, sources_of};
use crate::graphs::{GraphCheck, PlannedGraph};

pub(super) struct PlanInputs {
    pub(super) cluster_id: ClusterId,
    pub(super) graph: PlannedGraph,
    pub(super) graph_check: GraphCheck,
    pub(super) request: PlanRequest,
    pub(super) state: DesiredState,
    /// Document shared by all nodes, and the own document of each node of the state.
    pub(super) common: JsonMap,
    pub(super) own: Vec<JsonMap>,
    pub(super) secrets: Secrets,
    pub(super) are_primaries_new: bool,
    /// Nodes of the cluster without the parts that are only in documents.
    members: Vec<Node>,
    /// A user supplied documents; a run does not change the statuses in them.
    is_supplied: bool,
    /// Documents as expressions see them, for online nodes only.
    common_document: Document,
    nodes: Vec<NodeInput>,
    /// Uids of offline nodes. Nodes that are marked for removal are left out anyway, except by the graph `deletion`.
    offline: Vec<String>,
    old: Option<AppliedStates>,
    sources: SourceDigests,
    files: Files,
    inputs_key: InputsKey,
    library: Arc<Library>,
    settings: EvaluationSettings,
    placeholders: BTreeMap<String, String>,
}

impl PlanInputs {
    pub(super) fn new(plan_records: PlanRecords) -> Self {
        let PlanRecords {
            records,
            supplied,
            graph,
            graph_check,
            old,
            request,
            library,
            settings,
            mut placeholders,
            inputs_key,
        } = plan_records;
        let is_supplied = !supplied.is_empty();
        let mut state = records.new_state();
        let (common, own) = state.take_documents(supplied).into_plan_documents();
        placeholders.extend(public_name(&common).map(|name| ("CN_HOSTNAME".to_owned(), name)));
        let secrets =
            Secrets::from_documents([&state.common, &common].into_iter().chain(&own).chain(old.documents()));
        let names: Vec<&str> = graph.tasks.iter().map(|task| task.name.as_str()).collect();
        let mut shared = DocumentInterner::default();
        let is_online: HashMap<NodeId, bool> =
            records.nodes.iter().map(|node| (node.id, node.online)).collect();
        let applied = (!request.force).then(|| {
            let own = state.nodes.iter().map(|node| node.uid.as_str()).zip(&own).collect();
            old.states(&names, &NewDocuments { common: &common, own }, &mut shared)
        });
        let files = Files::default();
        Self {
            old: applied,
            sources: sources_of(&graph, &records.plugins, &files),
            files,
            inputs_key,
            cluster_id: records.cluster.id,
            common_document: intern_document(&mut shared, &common),
            nodes: online(&state, &own, &is_online, &mut shared),
            offline: records
                .nodes
                .iter()
                .filter(|node| !node.online && (request.graph_type.is_deletion() || !node.pending_deletion))
                .map(|node| node.id.to_string())
                .collect(),
            are_primaries_new: state.primaries != records.primaries,
            is_supplied,
            members: records.nodes.into_iter().map(slim).collect(),
            graph,
            graph_check,
            request,
            state,
            common,
            own,
            secrets,
            library,
            settings,
            placeholders,
        }
    }

    /// Returns the statuses of nodes and cluster after a run that succeeds on all `participants`. Documents that a user
    /// supplied keep theirs.
    pub(super) fn settled(&self, participants: &BTreeSet<&str>) -> Settled {
        if self.is_supplied {
            return Settled::default();
        }
        let is_selected = |uid: &String| {
            let nodes = self.request.nodes.as_ref();
            nodes.is_none_or(|nodes| NodeId::parse(uid).is_some_and(|id| nodes.contains(&id)))
        };
        let is_partial = self.offline.iter().any(is_selected);
        let participants = participants.iter().map(|uid| (*uid).to_owned()).collect();
        let on_success = self.graph.metadata.on_success.as_ref();
        settled(&self.members, &participants, &self.request.graph_type, on_success, is_partial)
    }

    /// Returns the documents after a successful run. Without them, parameters that print statuses would change once
    /// more after the first run.
    fn settled_documents(&self, participants: &BTreeSet<&str>) -> Option<SettledDocuments> {
        let settled = self.settled(participants);
        if settled == Settled::default() {
            return None;
        }
        let mut common = self.common.clone();
        settle_common(&mut common, &settled);
        let by_uid = settled.by_uid();
        let nodes = self.state.nodes.iter().zip(&self.own);
        let own = nodes.filter_map(|(node, own)| {
            let mut own = own.clone();
            set_status(&mut own, by_uid.get(node.uid.as_str())?);
            Some((node.uid.clone(), document(&own)))
        });
        Some(SettledDocuments { own: own.collect(), common: document(&common) })
    }

    pub(super) fn input(&self) -> PlanningInput<'_> {
        let metadata = &self.graph.metadata;
        PlanningInput {
            node_filter: metadata.node_filter.as_deref(),
            offline: self.offline.clone(),
            library: Arc::clone(&self.library),
            old: self.old.as_ref(),
            sources: self.sources.clone(),
            files: self.files.lookup(),
            inputs_key: self.inputs_key,
            after_run: StateAfterRun::new(|participants| self.settled_documents(participants)),
            on_definition_change: metadata.on_definition_change.unwrap_or(OnDefinitionChange::Rerun),
            request: self.request.to_planner(&self.graph),
            placeholders: self.placeholders.clone(),
            settings: self.settings.clone(),
            ..PlanningInput::new(&self.graph.tasks, self.common_document.clone(), self.nodes.clone())
        }
    }
}

/// Drops the large parts of a node, to bound memory while planning large fleets.
fn slim(node: Node) -> Node {
    Node {
        meta: JsonMap::new(),
        facts: JsonMap::new(),
        attributes: JsonMap::new(),
        labels: JsonMap::new(),
        ..node
    }
}

/// Returns the planning input of the online nodes.
fn online(
    state: &DesiredState,
    own: &[JsonMap],
    is_online: &HashMap<NodeId, bool>,
    shared: &mut DocumentInterner,
) -> Vec<NodeInput> {
    let is_online = |id: NodeId| is_online.get(&id).copied().unwrap_or(false);
    let online = state.nodes.iter().zip(own).filter(|(node, _)| is_online(node.id));
    let input = |(node, own): (&NodeState, &JsonMap)| NodeInput {
        uid: node.uid.clone(),
        tags: node.tags.clone(),
        document: intern_document(shared, own),
        record: Some(intern_document(shared, &node.record).value().clone()),
    };
    online.map(input).collect()
}

/// Returns the public hostname of the deployment, if the settings define one.
fn public_name(common: &JsonMap) -> Option<String> {
    let name = common.get("public_ssl")?.get("hostname")?.as_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn public_hostname_is_read_from_settings() {
        let check = |common: stoker_model::Json, expected: Option<&str>| {
            let common = common.as_object().cloned().unwrap_or_default();
            assert_eq!(public_name(&common).as_deref(), expected, "{common:?}");
        };
        check(json!({"public_ssl": {"hostname": "public.example", "horizon": true}}), Some("public.example"));
        check(json!({"public_ssl": {"hostname": ""}}), None);
        check(json!({"public_ssl": {"hostname": {"a": 1}}}), None);
        check(json!({"public_ssl": "on"}), None);
        check(json!({}), None);
    }
}
