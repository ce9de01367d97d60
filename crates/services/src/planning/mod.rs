//! Planning: from records to a stored plan.
//!
//! All inputs are read from one consistent snapshot (`PlanRecords`). State, plan, reasons and an independent check of
//! the plan are then computed on a blocking thread. The plan is stored together with the state it was computed from,
//! so that a run can record the state with which each task succeeded.
//!
//! The semantics of plans belong to `stoker-planner`, those of state documents to `stoker-state`. A plan with errors
//! is never stored; all its errors are reported.

mod ancestors;
mod changes;
mod checks;
mod computed;
mod gather;
mod inputs;
mod metrics;
mod old;
mod parameters;
mod problems;
mod records;
mod removal;
mod request;
mod secrets;
mod sources;
mod states;
mod stored;

pub use ancestors::ancestors;
pub use checks::{CheckPlan, CheckScope, CheckedInstance, NodeCheck, plan_checks};
pub use computed::ComputedPlan;
pub use metrics::PlanMetrics;
pub use parameters::unfit;
pub use records::{Records, STATUS_BEFORE, supplied};
pub use removal::{Removal, make_cluster_plan, removals};
pub use request::PlanRequest;
pub use secrets::{PlanSecrets, recent_secrets};
pub use states::NodeStates;
pub use stored::{PlanCache, StoredPlan};

use gather::PlanRecords;
use inputs::PlanInputs;
use problems::broken;
use serde_json::json;
use stoker_diagnostics::{Diagnostic, Severity};
use stoker_model::{
    Actor, AuditChange, AuditId, Cluster, ClusterId, GraphMetadata, GraphType, Micros, PlanRecord,
};
use stoker_planner::{InputDigests, InputsKey, input_digests};
use stoker_settings::Server;
use stoker_store::{Session, Store};
use stoker_traces::{SpanKind, Tracer};

use crate::clock::Clock;
use crate::error::{ServiceError, ServiceResult};
use crate::random;
use crate::role_limits::ClusterRoles;
use crate::trace;
use std::sync::Arc;

use crate::graphs::{Graphs, planned_graph};

/// Dependencies of planning.
#[derive(Clone)]
pub struct Planning {
    pub store: Store,
    pub settings: Arc<Server>,
    pub clock: Clock,
    pub tracer: Tracer,
    pub graphs: Graphs,
    pub plans: Arc<PlanCache>,
    pub metrics: PlanMetrics,
    /// Key of input fingerprints, shared by all servers of the database. Never rotated: all inputs would differ.
    pub inputs_key: InputsKey,
}

const INPUTS_KEY: &str = "inputs_key";
const INPUTS_KEY_CHARS: usize = 64;

/// Loads the key of input fingerprints; the first server generates it.
pub(crate) async fn agree_inputs_key(store: &Store, now: Micros) -> ServiceResult<InputsKey> {
    let secret = random::hex_text(INPUTS_KEY_CHARS)?;
    let agreed = store.shared_value_agree(INPUTS_KEY, &secret, now).await?;
    Ok(InputsKey(*blake3::hash(agreed.as_bytes()).as_bytes()))
}

/// Creates and stores a plan for a cluster. Executes nothing.
pub async fn make_plan(
    planning: &Planning,
    actor: &Actor,
    cluster: Cluster,
    request: PlanRequest,
) -> ServiceResult<PlanRecord> {
    let computed = Box::pin(plan(planning, cluster, request)).await?;
    let (computed, extras) = changes::with_changes(planning, computed).await?;
    let explained = Arc::clone(&computed.explained);
    let mut writing = planning.store.begin_write(actor, planning.clock.now()).await?;
    let record = computed.store(&mut writing, &extras).await?;
    let detail = json!({
        "cluster_id": record.cluster_id.0,
        "graph_type": record.graph_type.as_str(),
        "n_run": record.n_run,
        "n_skip": record.n_skip,
    });
    writing
        .commit(AuditChange { action: "plan.create", target: format!("plan {}", record.id), detail })
        .await?;
    planning.plans.put(record.id, explained);
    Ok(record)
}

/// Validates a request without planning it. Returns the names of the tasks of its graph.
pub async fn check_request(
    planning: &Planning,
    session: &mut Session,
    cluster: &Cluster,
    request: &PlanRequest,
) -> ServiceResult<Vec<String>> {
    let graph = planned_graph(&planning.graphs, session, cluster, &request.graph_type).await?;
    let records = Records::read(&planning.graphs, session, cluster).await?;
    gather::check(request, &graph, &records)?;
    check_roles(session, cluster, request).await?;
    if !graph.errors.is_empty() {
        return Err(broken(&graph));
    }
    Ok(graph.tasks.into_iter().map(|task| task.name.as_str().to_owned()).collect())
}

/// Checks that enough nodes have each role, before the graph `default` deploys them. Returns warnings, and violated minima
/// among them if the request ignores limits.
async fn check_roles(
    session: &mut Session,
    cluster: &Cluster,
    request: &PlanRequest,
) -> ServiceResult<Vec<Diagnostic>> {
    if request.graph_type != GraphType::default() {
        return Ok(Vec::new());
    }
    let roles = ClusterRoles::read(session, cluster).await?;
    let mut minima = roles.minima();
    if !minima.is_empty() && !request.ignore_limits {
        return Err(ServiceError::refused(minima));
    }
    for minimum in &mut minima {
        minimum.severity = Severity::Warning;
        minimum.help = None;
    }
    minima.extend(roles.recommendations());
    Ok(minima)
}

/// Returns the merged metadata of a graph.
pub async fn metadata(
    planning: &Planning,
    session: &mut Session,
    cluster: &Cluster,
    graph_type: &GraphType,
) -> ServiceResult<GraphMetadata> {
    Ok(planned_graph(&planning.graphs, session, cluster, graph_type).await?.metadata)
}

/// Computes a plan without storing it.
pub async fn plan(
    planning: &Planning,
    cluster: Cluster,
    request: PlanRequest,
) -> ServiceResult<ComputedPlan> {
    let mut span = planning.tracer.begin(SpanKind::Internal, "plan", trace::current());
    span.set_attribute("stoker.cluster.id", cluster.id.0);
    span.set_attribute("stoker.graph.type", request.graph_type.as_str().to_owned());
    let computed = compute(planning, cluster, request).await;
    match &computed {
        Ok(computed) => {
            span.set_attribute("stoker.plan.instances", computed.explained.plan.n_instances() as i64);
        }
        Err(_) => span.fail("planning failed"),
    }
    computed
}

async fn compute(planning: &Planning, cluster: Cluster, request: PlanRequest) -> ServiceResult<ComputedPlan> {
    let mut session = planning.store.snapshot().await?;
    let plan_records = PlanRecords::read(planning, &mut session, cluster, request).await?;
    let warnings =
        Box::pin(check_roles(&mut session, &plan_records.records.cluster, &plan_records.request)).await?;
    drop(session);
    let key = plan_records.cluster_id();
    let metrics = planning.metrics.clone();
    planning
        .plans
        .compute_for(key, move || {
            let started = Clock::instant();
            let computed = ComputedPlan::new(PlanInputs::new(plan_records), warnings);
            let n_instances = computed.as_ref().ok().map(|computed| computed.explained.plan.n_instances());
            metrics.planned(started.elapsed(), n_instances);
            computed
        })
        .await?
}

/// Returns human-readable changes of a plan's inputs since it was created, and the last audit entry that was read.
/// No changes means that planning again gives the same plan.
pub async fn changes_since(
    planning: &Planning,
    cluster: ClusterId,
    record: &PlanRecord,
) -> ServiceResult<(Vec<String>, AuditId)> {
    let mut session = planning.store.snapshot().await?;
    let last_audit = session.audit_last().await?;
    let cluster = session.cluster_get(cluster).await?.ok_or_else(|| ServiceError::not_found("Cluster"))?;
    let inputs = session.plan_inputs(record.id).await?.ok_or_else(|| ServiceError::not_found("Plan"))?;
    let then: InputDigests = serde_json::from_value(inputs).unwrap_or_default();
    let request = PlanRequest::of_record(record);
    if !removal::is_current(planning, &mut session, &cluster, &request).await? {
        return Ok((vec!["nodes that are marked for removal".to_owned()], last_audit));
    }
    let plan_records = match PlanRecords::read(planning, &mut session, cluster, request).await {
        Ok(plan_records) => plan_records,
        // A requested node or task no longer exists.
        Err(ServiceError::Invalid(report)) => return Ok((vec![report.message], last_audit)),
        Err(error) => return Err(error),
    };
    drop(session);
    let key = plan_records.cluster_id();
    let differ = move || then.differences(&input_digests(&PlanInputs::new(plan_records).input()));
    Ok((planning.plans.compute_for(key, differ).await?, last_audit))
}
