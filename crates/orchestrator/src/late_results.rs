//! Results that arrive after the end of their run.
//!
//! The process of such an attempt ran longer than the server waited for it, possibly beside an attempt of a later
//! run. What it left on the node is unknown.

use stoker_engine::run::{AttemptOutcome, EventKind};
use stoker_engine::session::{AttemptKey, AttemptResult, ResultKind};
use stoker_model::AgentUid;
use stoker_services::ServiceResult;
use stoker_services::planning::StoredPlan;

use crate::orchestrator::Orchestrator;
use crate::record;

/// Taints the applied state that the attempt may have overwritten. Redelivered results change nothing.
pub(crate) async fn record_late_result(
    orchestrator: &Orchestrator,
    uid: &AgentUid,
    finished: &AttemptResult,
) -> ServiceResult<()> {
    // A refused attempt has not started.
    if matches!(finished.end, ResultKind::Refused { .. }) {
        return Ok(());
    }
    let AttemptKey { run, instance, attempt } = finished.key;
    let mut session = orchestrator.context.store.snapshot().await?;
    let Some(child) = session.run_get(run).await?.filter(|child| !child.dry_run) else { return Ok(()) };
    // Runs of modules have no graph.
    let (Some(cluster), Some(graph_type)) = (child.cluster_id, child.graph_type) else { return Ok(()) };
    let events = session.run_events_of(run, i64::from(instance.get())).await?;
    let is_recorded = |event: EventKind| match event {
        EventKind::AttemptEnded { attempt: recorded, end: AttemptOutcome::Reported(_), .. }
        | EventKind::LateResult { attempt: recorded, .. } => recorded == attempt,
        _ => false,
    };
    if events.iter().filter_map(|event| record::decode(event).ok()).any(|event| is_recorded(event.kind)) {
        return Ok(());
    }
    let plan_id = session.run_work(run).await?.and_then(|work| work.plan_id);
    let Some(plan_id) = plan_id else { return Ok(()) };
    let Some(plan) = session.plan_get(plan_id).await? else { return Ok(()) };
    let stored = StoredPlan::read(&orchestrator.context.services.planning, &mut session, plan).await?;
    drop(session);
    let Some(instance) = stored.explained.plan.instance(instance) else { return Ok(()) };
    if uid.as_str() != instance.node && !uid.is_master() {
        tracing::warn!(agent.uid = %uid, run.id = run.0, "ignored a late result of another agent's attempt");
        return Ok(());
    }
    let tainted = [(instance.task.to_owned(), instance.node.to_owned())];
    let now = orchestrator.context.clock.now();
    orchestrator.context.store.applied_late_result(now, cluster, &graph_type, run, &tainted).await?;
    Ok(())
}
