//! A computed plan with its state, not yet stored.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::json;
use stoker_model::{ClusterId, Json, JsonMap, NewPlan, NodeId, PlanRecord};
use stoker_planner::{
    ExplainedPlan, InstanceAction, NODE_OFFLINE, Plan, PlanExtras, PlanningInput, SettledDocuments, check,
    check_placeholders, compares_inputs, encode, encode_extras, input_digests, plan, source_digests,
};
use stoker_state::{
    DesiredState, Document, MASTER, SYNC, Secrets, Settled, document, settle_common, settle_own, settled,
};
use stoker_store::{StateDocument, StoreError, WriteTransaction};

use crate::error::ServiceResult;

use super::ground::Ground;
use super::parameters;
use super::problems::{broken, refused, wrong_plan};
use super::request::PlanRequest;

pub struct Made {
    pub(super) explained: Arc<ExplainedPlan>,
    secrets: Secrets,
    cluster_id: ClusterId,
    request: PlanRequest,
    inputs: Json,
    bytes: Vec<u8>,
    /// Encoded data of the plan beside its document.
    extras: Vec<u8>,
    /// Task fields by task name.
    graph: StateDocument,
    common: StateDocument,
    /// Digests of files and helpers, and the layers of fields.
    sources: StateDocument,
    /// Statuses after a successful run.
    settled: StateDocument,
    /// Own documents of the participating nodes, including the master.
    nodes: Vec<(String, StateDocument)>,
    /// Newly elected primaries, not yet stored.
    new_primaries: Option<BTreeMap<String, NodeId>>,
}

impl Made {
    /// Computes the plan. The cost grows with the size of the cluster.
    pub(super) fn new(ground: Ground) -> ServiceResult<Self> {
        let mut input = ground.input();
        let plan_or_refuse = |input: &PlanningInput<'_>| {
            plan(input).map_err(|report| refused(&ground.graph, &report, &ground.secrets))
        };
        let (mut planned, mut report) = plan_or_refuse(&input)?;
        // Which statuses the run changes depends on where tasks are placed. Placement does not depend on inputs.
        if let Some(settled) = settled_documents(&ground, &planned) {
            input.settled = Some(settled);
            (planned, report) = plan_or_refuse(&input)?;
        }
        if !ground.graph.errors.is_empty() {
            return Err(broken(&ground.graph));
        }
        let mut violations = check(&planned);
        violations.extend(check_placeholders(&planned, input.placeholders.keys().map(String::as_str)));
        if !violations.is_empty() {
            return Err(wrong_plan(&violations));
        }
        let extras = encode_extras(&PlanExtras::new(&report));
        let mut explained = masked(ExplainedPlan::new(&input, planned, report), &ground.secrets);
        explained.problems.extend(parameters::warnings(&explained.plan));
        for problem in &mut explained.problems {
            let location = &mut problem.location;
            location.provenance =
                location.task.as_deref().and_then(|task| ground.graph.provenance(task, &location.path));
        }
        let inputs = serde_json::to_value(input_digests(&input)).unwrap_or_default();
        let sources = StateDocument::new(source_digests(&input).to_document());
        drop(input);
        let settled = settled_document(&ground, &explained);
        let Ground { cluster_id, graph, request, state, common, own, secrets, are_primaries_new, .. } =
            ground;
        let tasks = graph.tasks.into_iter().map(|task| (task.name, Json::Object(task.fields)));
        Ok(Self {
            bytes: encode(&explained),
            extras,
            nodes: participating_nodes(&explained, &state, own),
            explained: Arc::new(explained),
            graph: StateDocument::new(tasks.collect()),
            new_primaries: are_primaries_new.then_some(state.primaries),
            secrets,
            cluster_id,
            request,
            inputs,
            common: StateDocument::new(common),
            sources,
            settled,
        })
    }

    /// Returns the plan with secrets in its parameters masked.
    pub fn shown(&self) -> Plan {
        let mut plan = self.explained.plan.clone();
        for details in plan.tasks.iter_mut().flat_map(|task| &mut task.details) {
            self.secrets.mask(&mut details.parameters);
        }
        plan
    }

    /// Stores the plan and the state it was computed from.
    pub(super) async fn store(self, writing: &mut WriteTransaction) -> ServiceResult<PlanRecord> {
        let shared = [&self.graph, &self.common, &self.sources, &self.settled];
        let shared = writing.documents_put(shared).await?;
        let [graph_id, common_id, sources_id, settled_id] = shared[..] else {
            return Err(StoreError::NotFound { what: "document" }.into());
        };
        let own = writing.documents_put(self.nodes.iter().map(|(_, own)| own)).await?;
        if let Some(primaries) = &self.new_primaries {
            writing.primaries_put(self.cluster_id, primaries).await?;
        }
        let instances = self.explained.plan.instances();
        let n_run = instances.filter(|instance| instance.verdict.action() == InstanceAction::Run).count();
        let new = NewPlan {
            cluster_id: self.cluster_id,
            request: self.request.to_json(),
            graph_type: self.request.graph_type,
            parent_id: self.request.parent_id,
            n_run: n_run as i64,
            n_skip: (self.explained.plan.n_instances() - n_run) as i64,
            inputs: self.inputs,
            graph_id,
            common_id,
            nodes: self.nodes.into_iter().map(|(uid, _)| uid).zip(own).collect(),
            document: self.bytes,
        };
        let record = writing.plan_create(&new).await?;
        let (sources, settled) = (Some(sources_id), Some(settled_id));
        writing.plan_snapshot_put(record.id, common_id, graph_id, sources, settled).await?;
        writing.plan_extras_put(record.id, &self.extras).await?;
        Ok(record)
    }
}

/// Returns the statuses of nodes and cluster after a run of the plan that succeeds. Nodes without an instance keep
/// their status, and in a run of a part of the graph also nodes without work.
fn settled_document(ground: &Ground, explained: &ExplainedPlan) -> StateDocument {
    if ground.is_supplied {
        return StateDocument::new(Settled::default().to_document());
    }
    let is_part = ground.request.tasks.is_some() || !ground.request.subgraphs.is_empty();
    let participants = participants(&explained.plan, |action| !is_part || action == InstanceAction::Run);
    let is_partial = explained.excluded.iter().any(|node| node.reason == NODE_OFFLINE);
    let on_success = ground.graph.metadata.on_success.as_ref();
    StateDocument::new(settled(&ground.members, &participants, on_success, is_partial).to_document())
}

/// UIDs of the nodes with an instance that has such an action.
fn participants(plan: &Plan, is_wanted: impl Fn(InstanceAction) -> bool) -> BTreeSet<String> {
    let instances = plan.instances().filter(|instance| is_wanted(instance.verdict.action()));
    instances.map(|instance| instance.node.to_owned()).collect()
}

/// Returns the new state with the statuses after a run of the whole graph, over which inputs are rendered; `None` if no
/// task compares inputs or the statuses stay as they are.
fn settled_documents(ground: &Ground, plan: &Plan) -> Option<SettledDocuments> {
    if ground.is_supplied || !ground.graph.tasks.iter().any(compares_inputs) {
        return None;
    }
    let on_success = ground.graph.metadata.on_success.as_ref();
    let settled = settled(&ground.members, &participants(plan, |_| true), on_success, false);
    let mut common = ground.common.clone();
    settle_common(&mut common, &settled);
    let own = ground.state.nodes.iter().zip(&ground.own).filter_map(|(node, own)| {
        let mut after = own.clone();
        settle_own(&mut after, &node.uid, &settled);
        (after != *own).then(|| (node.uid.clone(), document(&after)))
    });
    let own: BTreeMap<String, Document> = own.collect();
    (common != ground.common || !own.is_empty()).then(|| SettledDocuments { common: document(&common), own })
}

/// Returns the own documents of participating nodes.
fn participating_nodes(
    explained: &ExplainedPlan,
    state: &DesiredState,
    own: Vec<JsonMap>,
) -> Vec<(String, StateDocument)> {
    let mut own: HashMap<&str, JsonMap> = state.nodes.iter().map(|node| node.uid.as_str()).zip(own).collect();
    let nodes = explained.plan.nodes.iter().filter(|uid| *uid != SYNC);
    let with_document = |uid: &String| {
        let document = own.remove(uid.as_str()).unwrap_or_else(master_own_document);
        (uid.clone(), StateDocument::new(document))
    };
    nodes.map(with_document).collect()
}

/// Own document of the master.
fn master_own_document() -> JsonMap {
    JsonMap::from_iter([("roles".to_owned(), json!([MASTER])), ("uid".to_owned(), json!(MASTER))])
}

/// Masks secrets in reasons and diagnostics. Parameters keep them: execution needs them.
fn masked(mut explained: ExplainedPlan, secrets: &Secrets) -> ExplainedPlan {
    if secrets.is_empty() {
        return explained;
    }
    explained.reasons.mask_texts(|text| secrets.mask_text(text));
    for problem in &mut explained.problems {
        problem.message = secrets.mask_text(&problem.message);
    }
    explained
}

#[cfg(test)]
mod tests {
    use stoker_state::master_document;

    use super::*;

    #[test]
    fn stored_master_document_equals_planned_one() {
        assert!(stoker_state::document(&master_own_document()).value().equals(master_document().value()));
    }
}
