//! Changes of the inputs of a plan since the last successes, for display.

use std::collections::{HashMap, HashSet};

use stoker_model::{DocumentId, JsonMap};
use stoker_planner::{
    DetailsIdx, InputsKey, OldInputs, PlanExtras, PlannedTask, encode_extras, input_changes, inputs_document,
    inputs_of,
};
use stoker_state::Secrets;
use stoker_store::Session;

use super::Planning;
use super::computed::ComputedPlan;
use crate::error::ServiceResult;

/// Maximum number of documents of old inputs read for a plan. Instances with others are displayed without differences.
const DOCUMENTS_MAX: usize = 5_000;

/// Compares the inputs of a computed plan with those of the last successes, and encodes its extras.
pub(super) async fn with_changes(
    planning: &Planning,
    computed: ComputedPlan,
) -> ServiceResult<(ComputedPlan, Vec<u8>)> {
    let mut session = planning.store.snapshot().await?;
    let old = old_inputs(&mut session, &computed).await?;
    drop(session);
    let (cluster, key) = (computed.cluster_id.0, planning.inputs_key);
    let encode = move || {
        let mut extras = computed.extras.clone();
        (extras.changes, extras.of) = input_changes(&computed.explained.plan, &old, |task, details_idx| {
            new_inputs(&computed.extras, &computed.secrets, &key, task, details_idx)
        });
        (computed, encode_extras(&extras))
    };
    planning.plans.compute_for(cluster, encode).await
}

async fn old_inputs(session: &mut Session, computed: &ComputedPlan) -> ServiceResult<OldInputs> {
    let running = computed.explained.plan.tasks.iter().filter(|task| !task.details.is_empty());
    let tasks: Vec<&str> = running.map(|task| task.name.as_str()).collect();
    let mut old = OldInputs::default();
    if tasks.is_empty() {
        return Ok(old);
    }
    let applied = session.applied_inputs(computed.cluster_id, computed.graph_type(), &tasks).await?;
    let ids: HashSet<DocumentId> = applied.iter().filter_map(|inputs| inputs.inputs_id).collect();
    let ids: Vec<DocumentId> = ids.into_iter().take(DOCUMENTS_MAX).collect();
    let documents = session.documents_get(&ids).await?;
    let indices: HashMap<DocumentId, usize> =
        documents.into_iter().map(|(id, document)| (id, old.add(document))).collect();
    for inputs in &applied {
        let Some(document_idx) = inputs.inputs_id.and_then(|id| indices.get(&id)) else { continue };
        for uid in &inputs.nodes {
            old.set(&inputs.task_name, uid, *document_idx);
        }
    }
    Ok(old)
}

/// Inputs as a success would record them, so that equal inputs compare as equal.
fn new_inputs(
    extras: &PlanExtras,
    secrets: &Secrets,
    key: &InputsKey,
    task: &PlannedTask,
    details_idx: DetailsIdx,
) -> JsonMap {
    let Some(details) = task.details.get(details_idx.index()) else { return JsonMap::new() };
    let steady = extras.steady.get(&task.name).and_then(|inputs| inputs.get(&details_idx.get()));
    let inputs = steady.cloned().unwrap_or_else(|| inputs_of(&details.parameters));
    let input_secrets = inputs.as_object().map(|map| Secrets::from_documents([map])).unwrap_or_default();
    inputs_document(&inputs, &input_secrets.union(secrets.clone()), key)
}
