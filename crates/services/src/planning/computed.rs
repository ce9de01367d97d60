//! A computed plan with its state, not yet stored.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_model::{ClusterId, GraphType, Json, JsonMap, NewPlan, NodeId, PlanRecord};
use stoker_planner::{
    ExplainedPlan, Instance, InstanceAction, Plan, PlanExtras, check, check_placeholders, codes, encode,
    input_digests, plan, source_digests, unknown_definitions,
};
use stoker_state::{DesiredState, MASTER, SYNC, Secrets};
use stoker_store::{StateDocument, StoreError, WriteTransaction};

use crate::error::ServiceResult;

use super::inputs::PlanInputs;
use super::parameters;
use super::problems::{broken, refused, wrong_plan};
use super::request::PlanRequest;

/// A computed plan, its secrets and the state from which it was computed. It is not stored yet.
pub struct ComputedPlan {
    pub(super) explained: Arc<ExplainedPlan>,
    pub(super) secrets: Secrets,
    pub(super) cluster_id: ClusterId,
    request: PlanRequest,
    inputs: Json,
    bytes: Vec<u8>,
    /// Data of the plan beside its document, without changes of inputs.
    pub(super) extras: PlanExtras,
    /// Task fields by task name.
    pub(super) graph: StateDocument,
    pub(super) common: StateDocument,
    /// Digests of files and helpers, and the layers of fields.
    sources: StateDocument,
    /// Statuses after a successful run.
    settled: StateDocument,
    /// Own documents of the participating nodes, including the master.
    pub(super) nodes: Vec<(String, StateDocument)>,
    /// Newly elected primaries, not yet stored.
    new_primaries: Option<BTreeMap<String, NodeId>>,
}

impl ComputedPlan {
    /// Computes the plan. The cost grows with the size of the cluster.
    pub(super) fn new(inputs: PlanInputs, role_warnings: Vec<Diagnostic>) -> ServiceResult<Self> {
        let input = inputs.input();
        let (planned, report) =
            plan(&input).map_err(|report| refused(&inputs.graph, &report, &inputs.secrets))?;
        if !inputs.graph.errors.is_empty() {
            return Err(broken(&inputs.graph));
        }
        let mut violations = check(&planned);
        violations.extend(check_placeholders(&planned, input.placeholders.keys().map(String::as_str)));
        if !violations.is_empty() {
            return Err(wrong_plan(&violations));
        }
        let mut extras = PlanExtras::new(&report);
        extras.warnings.extend(inputs.graph_check.warnings());
        extras.warnings.extend(role_warnings);
        extras.warnings.extend(unverified_machines(&inputs.request, &planned));
        extras.warnings.extend(unknown_definitions(&input, &planned));
        let mut explained = masked(ExplainedPlan::new(&input, planned, report), &inputs.secrets);
        explained.problems.extend(parameters::warnings(&explained.plan));
        for warning in &mut extras.warnings {
            warning.message = inputs.secrets.mask_text(&warning.message);
        }
        for problem in explained.problems.iter_mut().chain(&mut extras.warnings) {
            let location = &mut problem.location;
            location.provenance =
                location.task.as_deref().and_then(|task| inputs.graph.provenance(task, &location.path));
        }
        let digests = serde_json::to_value(input_digests(&input)).unwrap_or_default();
        let sources = StateDocument::new(source_digests(&input).to_document());
        drop(input);
        let settled = settled_document(&inputs, &explained);
        let PlanInputs { cluster_id, graph, request, state, common, own, secrets, are_primaries_new, .. } =
            inputs;
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
            inputs: digests,
            common: StateDocument::new(common),
            sources,
            settled,
        })
    }

    /// Returns the plan with secrets in its parameters masked.
    pub fn masked(&self) -> Plan {
        let mut plan = self.explained.plan.clone();
        for details in plan.tasks.iter_mut().flat_map(|task| &mut task.details) {
            self.secrets.mask(&mut details.parameters);
        }
        plan
    }

    pub(super) fn graph_type(&self) -> &GraphType {
        &self.request.graph_type
    }

    /// Stores the plan, its encoded extras and the state it was computed from.
    pub(super) async fn store(
        self,
        writing: &mut WriteTransaction,
        extras: &[u8],
    ) -> ServiceResult<PlanRecord> {
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
        writing.plan_extras_put(record.id, extras).await?;
        Ok(record)
    }
}

/// Warns about nodes of the plan that may have been replaced unnoticed.
fn unverified_machines(request: &PlanRequest, plan: &Plan) -> Option<Diagnostic> {
    let is_unverified = |uid: &&String| request.unverified.iter().any(|agent| agent.as_str() == uid.as_str());
    let nodes: Vec<String> = plan.nodes.iter().filter(is_unverified).cloned().collect();
    if nodes.is_empty() || request.force {
        return None;
    }
    let message = "the agents did not connect, so the machines may have been replaced since the last run";
    let help = "see the server log for the reason, and plan again when the nodes are reachable";
    Some(Diagnostic::warning(codes::UNVERIFIED_MACHINE, message).help(help).nodes(nodes))
}

/// Returns the statuses of nodes and cluster after a run of the plan that succeeds. Nodes without a task keep their
/// status; in a run of a part of the graph, also nodes without work.
fn settled_document(inputs: &PlanInputs, explained: &ExplainedPlan) -> StateDocument {
    let plan = &explained.plan;
    let is_part = inputs.request.tasks.is_some() || !inputs.request.subgraphs.is_empty();
    let takes_part = |instance: &Instance<'_>| !is_part || instance.verdict.action() == InstanceAction::Run;
    let participants = plan.instances().filter(takes_part).map(|instance| instance.node).collect();
    StateDocument::new(inputs.settled(&participants).to_document())
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
