//! Restores runs from their events: to continue them after a takeover, or to compute the remaining instances
//! of a retry.

use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::RunMachine as RunState;
use stoker_model::{ErrorChain, InstanceIdx, RunId};
use stoker_planner::{Plan, resolve_reference};
use stoker_services::runs::RunKind;
use stoker_services::{ServiceError, ServiceResult};
use stoker_store::Session;

use super::projection::Projection;
use crate::record;

/// Page size for reading events.
const EVENTS_PAGE: u32 = 10_000;

/// Restricts a blueprint to the referenced instances and their successors; unchanged without references.
pub(super) fn cut(plan: &Plan, from: &[String], blueprint: Blueprint) -> Blueprint {
    if from.is_empty() {
        return blueprint;
    }
    let instances: Vec<InstanceIdx> =
        from.iter().flat_map(|reference| resolve_reference(plan, reference)).collect();
    blueprint.from_instances(&instances)
}

/// Restricts a blueprint to the instances that did not succeed in an earlier run.
pub(super) async fn rest(
    session: &mut Session,
    former: RunId,
    plan: &Plan,
    blueprint: Blueprint,
) -> ServiceResult<Blueprint> {
    // The former run may itself have retried another run; follow the chain to the first one.
    let (mut chain, mut from) = (Vec::new(), Vec::new());
    let mut next = Some(former);
    while let Some(run) = next.filter(|run| !chain.contains(run)) {
        // Without its events, successful instances are unknown and would be executed again.
        let work = session.run_work(run).await?.ok_or_else(|| {
            ServiceError::invalid(format!(
                "cannot retry: the original run {run} was deleted; start a new run"
            ))
        })?;
        chain.push(run);
        let request = match RunKind::decode(&work.options, None) {
            Some(RunKind::Graph(request, _)) => Some(request),
            _ => None,
        };
        next = request.as_ref().and_then(|request| request.rest_of);
        from = request.map(|request| request.from).unwrap_or_default();
    }
    // The first run may have been restricted to a part of the plan.
    let mut left = cut(plan, &from, blueprint);
    for run in chain.iter().rev() {
        let (state, ..) = restore(session, *run, &left).await?;
        left = left.remaining(&state);
    }
    Ok(left)
}

/// Replays the events of a run. Returns its state, its history and the sequence number of the next event.
pub(super) async fn restore(
    session: &mut Session,
    run: RunId,
    blueprint: &Blueprint,
) -> ServiceResult<(RunState, Projection, i64)> {
    let mut state = RunState::new(run, blueprint);
    let mut projection = Projection::new(run);
    let mut seq = 0;
    loop {
        let page = session.run_events(run, seq, EVENTS_PAGE).await?;
        for stored in &page {
            let event = record::decode(stored).map_err(|error| {
                tracing::error!(run.id = run.0, error = %ErrorChain(&error), "cannot decode an event of the run");
                ServiceError::invalid(ErrorChain(&error).to_string())
            })?;
            if !state.replay(blueprint, &event) {
                tracing::error!(
                    run.id = run.0,
                    event.seq = stored.seq,
                    "the events of the run do not match its plan"
                );
                return Err(ServiceError::invalid(format!(
                    "event {} of run {run} does not match its plan; start a new run",
                    stored.seq
                )));
            }
            projection.apply(blueprint, &event);
            seq = stored.seq;
        }
        if page.len() < EVENTS_PAGE as usize {
            return Ok((state, projection, seq + 1));
        }
    }
}
