//! Executes a run graph by graph. Each graph is planned just before it is executed, so that its plan reflects
//! the results of the previous graph.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stoker_engine::blueprint::ExecutionOptions;
use stoker_engine::run::{Phase, RunOutcome};
use stoker_engine::session::server::Input;
use stoker_model::{
    Actor, AgentUid, AuditChange, Cluster, ErrorChain, NodeIdx, PlanId, Run, RunEnd, RunId, RunStatus,
};
use stoker_planner::decode_extras;
use stoker_services::background::TaskMonitor;
use stoker_services::planning::{self, PlanRequest, StoredPlan};
use stoker_services::runs::{GraphRequest, RunKind, RunOptions};
use stoker_services::trace;
use stoker_services::{ServiceError, random};
use stoker_store::StoreError;
use stoker_traces::{SpanKind, Traceparent};
use tokio::sync::mpsc;
use tracing::Instrument as _;

use super::applied::AppliedPlan;
use super::blueprint::blueprint_of_plan;
use super::conclude::{Conclusion, FencedRun, begin_child, conclude, conclude_child};
use super::dispatch::Dispatch;
use super::driver::{Driven, Driver, Lost};
use super::durations;
use super::messages::{excluded_nodes_message, refused, require_executable};
use super::modules;
use super::outcome::{Outcomes, Progress, Transitions, bystanders};
use super::reapply;
use super::restore::{cut, rest, restore};
use super::spans::AttemptSpans;
use super::work::{GraphWork, Work};
use crate::agents::INBOX_MAX;
use crate::context::OrchestratorContext;
use crate::machines::verify_machines;
use crate::orchestrator::Orchestrator;

/// Delay before a retry after a transient error.
const PAUSE: Duration = Duration::from_secs(1);

/// Reason why a run or child run ended without a result of the engine.
pub(super) enum Interruption {
    /// The lease was lost: another server drives the run, or it was deleted.
    Lost,
    /// The run was ended before it started.
    Ended,
    /// The run cannot be executed.
    Refused(ServiceError),
}

impl From<Lost> for Interruption {
    fn from(_: Lost) -> Self {
        Self::Lost
    }
}

impl From<ServiceError> for Interruption {
    fn from(error: ServiceError) -> Self {
        Self::Refused(error)
    }
}

impl From<StoreError> for Interruption {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Stale { .. } | StoreError::NotFound { .. } => Self::Lost,
            other => Self::Refused(other.into()),
        }
    }
}

/// Starts a driver for a run in the background, unless this server already has one.
pub fn start_driver(orchestrator: &Orchestrator, run: RunId) {
    if !orchestrator.conducted.lock().insert(run) {
        return;
    }
    // The `run started` notification was just committed.
    orchestrator.context.services.webhooks.notify();
    let worker = orchestrator.clone();
    orchestrator.background.spawn(async move {
        Box::pin(conduct_to_end(&worker, run)).await;
        worker.conducted.lock().remove(&run);
    });
}

pub fn start_drivers(orchestrator: &Orchestrator, runs: Vec<RunId>) {
    for run in runs {
        start_driver(orchestrator, run);
    }
}

/// Drives a run to its end, unless another server holds the lease. Retries transient errors.
async fn conduct_to_end(orchestrator: &Orchestrator, parent: RunId) {
    loop {
        match Box::pin(try_conduct(orchestrator, parent)).await {
            Ok(()) | Err(Interruption::Lost | Interruption::Ended) => return,
            Err(Interruption::Refused(error)) if error.is_transient() => {
                tracing::warn!(run.id = parent.0, error = %ErrorChain(&error), "cannot continue the run; retrying");
                tokio::time::sleep(PAUSE).await;
            }
            Err(Interruption::Refused(error)) => {
                tracing::error!(run.id = parent.0, error = %ErrorChain(&error), "cannot execute the run");
                return;
            }
        }
    }
}

async fn try_conduct(orchestrator: &Orchestrator, parent: RunId) -> Result<(), Interruption> {
    let Some(held) = orchestrator.leases.take(parent).await? else { return Err(Interruption::Lost) };
    let lease = held.generation;
    let mut session = orchestrator.context.store.read().await?;
    let modules = session.module_run(parent).await?;
    let options = session.run_work(parent).await?.ok_or(Interruption::Lost)?.options;
    drop(session);
    let work = async {
        match RunKind::decode(&options, modules) {
            Some(RunKind::Modules(Some(list))) => {
                Box::pin(modules::carry_out(orchestrator, list, lease)).await
            }
            Some(RunKind::Reapply(reapply)) => {
                Box::pin(reapply::carry_out(orchestrator, FencedRun { run: parent, lease }, &reapply)).await
            }
            // The module list was deleted with its node: there are no child runs, and the run ends.
            Some(RunKind::Deployment { .. } | RunKind::Modules(None)) => {
                run_children(orchestrator, parent, lease).await
            }
            // Child runs are executed through their deployment.
            Some(RunKind::Graph(..)) | None => Err(unreadable().into()),
        }
    };
    let done = tokio::select! {
        done = trace::within(trace::of(&options), work) => done,
        () = held.wait_lost() => Err(Interruption::Lost),
    };
    // When the lease is lost, the future of the child run is dropped before it can notify its agents.
    for (run, executors) in orchestrator.agents.take_abandoned() {
        cancel_on_agents(orchestrator, run, &executors).await;
    }
    done
}

fn unreadable() -> ServiceError {
    ServiceError::invalid(
        "cannot read the request of the run: another version of Stoker wrote it; start a new run",
    )
}

async fn run_children(orchestrator: &Orchestrator, parent: RunId, lease: i64) -> Result<(), Interruption> {
    let children = orchestrator.context.store.read().await?.run_children(parent).await?;
    let mut former = None;
    for child in children {
        let mut session = orchestrator.context.store.read().await?;
        // Read again: it may have been ended in the meantime.
        let child = session.run_get(child.id).await?.ok_or(Interruption::Lost)?;
        let is_paused = match former {
            Some(former) => session.run_events_now(former).await?.1,
            None => false,
        };
        drop(session);
        let id = child.id;
        let end = match child.end() {
            Some(end) => Some(end),
            None => match Box::pin(run_child(orchestrator, &child, is_paused)).await {
                Ok(child) => child.end(),
                Err(Interruption::Ended) => None,
                Err(Interruption::Refused(refusal)) if !refusal.is_transient() => {
                    // The message of a service error is for users; its causes are for the operator.
                    tracing::warn!(run.id = id.0, error = %ErrorChain(&refusal), "cannot execute a graph of the run");
                    let ended = Conclusion::error(refusal.to_string());
                    conclude_child(orchestrator, FencedRun { run: parent, lease }, id, ended).await?.end()
                }
                Err(broken) => return Err(broken),
            },
        };
        if !matches!(end, Some(RunEnd::Succeeded | RunEnd::Partial)) {
            break;
        }
        former = Some(id);
    }
    conclude(orchestrator, parent, lease).await
}

/// Executes one graph and returns the ended run. Starts paused if the previous graph ended paused.
async fn run_child(orchestrator: &Orchestrator, child: &Run, is_paused: bool) -> Result<Run, Interruption> {
    let Some(held) = orchestrator.leases.take(child.id).await? else { return Err(Interruption::Lost) };
    let lease = held.generation;
    let mut session = orchestrator.context.store.read().await?;
    let work = session.run_work(child.id).await?.ok_or(Interruption::Lost)?;
    let Some(RunKind::Graph(request, run_options)) = RunKind::decode(&work.options, None) else {
        return Err(unreadable().into());
    };
    let (request, run_options) = (*request, *run_options);
    let cluster_id = child.cluster_id.ok_or_else(|| ServiceError::not_found("Cluster"))?;
    let cluster = session.cluster_get(cluster_id).await?.ok_or_else(|| ServiceError::not_found("Cluster"))?;
    drop(session);
    let parent = trace::of(&work.options);
    let mut traced = orchestrator.context.tracer.begin(SpanKind::Internal, "run", parent);
    traced.set_attribute("stoker.run.id", child.id.0);
    traced.set_attribute("stoker.cluster.id", cluster_id.0);
    traced.set_attribute("stoker.graph.type", request.graph_type.as_str().to_owned());
    let trace = traced.context().or(parent);
    let span =
        tracing::info_span!("run", run.id = child.id.0, trace_id = trace.as_ref().map(Traceparent::id));
    let plan_id = if let Some(id) = work.plan_id {
        id
    } else {
        let planned = Box::pin(plan(orchestrator, child, lease, cluster.clone(), &request, &run_options));
        let planned = trace::within(trace, planned).instrument(span.clone()).await;
        if planned.is_err() {
            traced.fail("planning failed");
        }
        planned?
    };
    if run_options.dry_run {
        let mut session = orchestrator.context.store.read().await?;
        let record = session.plan_get(plan_id).await?.ok_or_else(|| ServiceError::not_found("Plan"))?;
        let stored = StoredPlan::read(&orchestrator.context.services.planning, &mut session, record).await?;
        drop(session);
        let ended = Conclusion::planned(plan_id, excluded_nodes_message(&stored.explained.excluded));
        return conclude_child(orchestrator, FencedRun { run: child.id, lease }, child.id, ended).await;
    }
    let is_real = run_options.is_real();
    let leased =
        LeasedRun { orchestrator, child, lease, cluster, plan_id, request, run_options, trace, is_paused };
    let (driver, left_out) = Box::pin(leased.driver()).await?;
    let blueprint = Arc::clone(&driver.blueprint);
    let executors = driver.executors();
    let ended = Box::pin(driver.drive()).instrument(span).await;
    orchestrator.agents.remove_run(child.id);
    let Driven { end, stop_requested } = match ended {
        Ok(driven) => driven,
        Err(lost) => {
            traced.set_attribute("stoker.run.status", "lost");
            cancel_on_agents(orchestrator, child.id, &executors).await;
            return Err(lost.into());
        }
    };
    let status = end.status();
    traced.set_attribute("stoker.run.status", status.as_str());
    if status == RunStatus::Error {
        traced.fail("the run failed");
    }
    let mut messages: Vec<String> = end.message(&blueprint).into_iter().collect();
    let is_partial = left_out.is_some() && is_real;
    messages.extend(left_out);
    let ended = Conclusion {
        status,
        message: (!messages.is_empty()).then(|| messages.join("; ")),
        plan: Some(plan_id),
        is_partial,
        is_stopped: end == RunOutcome::Stopped,
        stop_requested,
    };
    conclude_child(orchestrator, FencedRun { run: child.id, lease }, child.id, ended).await
}

/// Notifies agents of the end of a run that was ended or deleted externally, so that they cancel its
/// attempts.
pub(super) async fn cancel_on_agents(orchestrator: &Orchestrator, run: RunId, executors: &[AgentUid]) {
    if orchestrator.context.has_ended(run).await {
        for uid in executors {
            orchestrator.agents.step(
                uid,
                Input::RunStatus { run, generation: None },
                orchestrator.context.clock.now(),
            );
        }
    }
}

/// Stores the plan of a child run: the requested plan, or a new one.
async fn plan(
    orchestrator: &Orchestrator,
    child: &Run,
    lease: i64,
    cluster: Cluster,
    request: &GraphRequest,
    run_options: &RunOptions,
) -> Result<PlanId, Interruption> {
    let plan_id = if let Some(id) = request.plan {
        id
    } else {
        let (force, ignore_limits) = (run_options.force, run_options.ignore_limits);
        let subgraphs = run_options.subgraphs.clone();
        let plan_request = PlanRequest { subgraphs, force, ignore_limits, ..request.plan_request() };
        let (planning, actor) = (&orchestrator.context.services.planning, Actor::server());
        let unverified = if force { Vec::new() } else { verify_machines(orchestrator, cluster.id).await? };
        let plan_request = PlanRequest { unverified, ..plan_request };
        if run_options.dry_run {
            // A real run would have executed the graphs before this one.
            let parent_id = previous_plan(orchestrator, child).await?;
            let plan_request = PlanRequest { parent_id, ..plan_request };
            planning::make_cluster_plan(planning, &actor, cluster, plan_request).await?.id
        } else {
            Box::pin(planning::make_plan(planning, &actor, cluster, plan_request)).await?.id
        }
    };
    let mut writing =
        orchestrator.context.store.begin_write(&Actor::server(), orchestrator.context.clock.now()).await?;
    writing.run_work_plan(child.id, lease, plan_id).await?;
    let detail = json!({"plan_id": plan_id.0});
    writing.commit(AuditChange { action: "run.plan", target: format!("run {}", child.id), detail }).await?;
    Ok(plan_id)
}

/// Returns the plan of the child run before this one.
async fn previous_plan(orchestrator: &Orchestrator, child: &Run) -> Result<Option<PlanId>, Interruption> {
    let Some(parent) = child.parent_id else { return Ok(None) };
    let mut session = orchestrator.context.store.read().await?;
    let siblings = session.run_children(parent).await?;
    let Some(previous) = siblings.into_iter().filter(|run| run.id < child.id).max_by_key(|run| run.id) else {
        return Ok(None);
    };
    Ok(session.run_work(previous.id).await?.and_then(|work| work.plan_id))
}

/// A child run whose lease this server holds.
struct LeasedRun<'a> {
    orchestrator: &'a Orchestrator,
    child: &'a Run,
    lease: i64,
    cluster: Cluster,
    plan_id: PlanId,
    request: GraphRequest,
    run_options: RunOptions,
    trace: Option<Traceparent>,
    is_paused: bool,
}

impl LeasedRun<'_> {
    /// Creates the driver, and a message about nodes that were excluded from the plan.
    async fn driver(self) -> Result<(Driver, Option<String>), Interruption> {
        let Self { orchestrator, child, lease, cluster, plan_id, request, run_options, trace, is_paused } =
            self;
        let mut session = orchestrator.context.store.read().await?;
        let record = session.plan_get(plan_id).await?.ok_or_else(|| ServiceError::not_found("Plan"))?;
        let (common_id, graph_id) = (record.common_id, record.graph_id);
        let graph_type = record.graph_type.clone();
        let is_chosen = |key: &str| record.request.get(key).is_some();
        let is_part = is_chosen("tasks")
            || is_chosen("subgraphs")
            || request.rest_of.is_some()
            || !request.from.is_empty();
        let documents: HashMap<_, _> = session.plan_nodes(plan_id).await?.into_iter().collect();
        let snapshot = session.plan_snapshot(plan_id).await?.map(|snapshot| snapshot.id);
        let extras = session.plan_extras(plan_id).await?;
        // Without them, tasks whose parameters read the old state run once more.
        let steady = extras.and_then(|bytes| decode_extras(&bytes).ok()).unwrap_or_default().steady;
        let stored = StoredPlan::read(&orchestrator.context.services.planning, &mut session, record).await?;
        let secrets = planning::recent_secrets(&mut session, cluster.id, Some(common_id)).await?;
        let secrets = secrets.values().map(str::to_owned).collect();
        let metadata = planning::metadata(
            &orchestrator.context.services.planning,
            &mut session,
            &cluster,
            &request.graph_type,
        )
        .await?;
        let durations =
            durations::read(&mut session, cluster.id, &graph_type, &stored.explained.plan).await?;
        let options = run_options.options(&defaults(orchestrator));
        let blueprint =
            blueprint_of_plan(&stored.explained.plan, options, &durations, stoker_tasks::default_timing)
                .map_err(|defects| refused(&defects))?;
        let blueprint = match request.rest_of {
            Some(former) => rest(&mut session, former, &stored.explained.plan, blueprint).await?,
            None => cut(&stored.explained.plan, &request.from, blueprint),
        };
        let (state, projection, next_seq) = restore(&mut session, child.id, &blueprint).await?;
        drop(session);
        if *state.phase() == Phase::Created {
            require_executable(&stored.explained.plan, &run_options)?;
        }
        begin_child(orchestrator, FencedRun { run: child.id, lease }, &run_options, &blueprint).await?;
        let (sender, inbox) = mpsc::channel(INBOX_MAX);
        let blueprint = Arc::new(blueprint);
        orchestrator.agents.add_run(child.id, Arc::clone(&blueprint), sender);
        let nodes = NodeIdx::first(blueprint.n_nodes())
            .filter_map(|node| Some((AgentUid::from(blueprint.node(node)?), node)));
        let excluded_nodes_message = excluded_nodes_message(&stored.explained.excluded);
        let dispatch =
            Dispatch::new(orchestrator, stored.explained, &blueprint, secrets, documents.clone(), steady);
        let outcomes = Outcomes {
            run: child.id,
            cluster: cluster.id,
            plan: AppliedPlan { plan: plan_id, graph_type, common_id, graph_id, snapshot, documents },
            is_real: run_options.is_real(),
            bystanders: if is_part { bystanders(&blueprint) } else { BTreeSet::new() },
            transitions: Transitions::new(&metadata),
            progress: Progress::default(),
        };
        let driver = Driver {
            orchestrator: orchestrator.clone(),
            run: child.id,
            lease,
            state,
            next_seq,
            inbox,
            projection,
            work: Work::Graph(Box::new(GraphWork { dispatch, outcomes })),
            nodes: nodes.collect(),
            blueprint,
            wake_at: None,
            waiting: VecDeque::new(),
            unconfirmed: HashSet::new(),
            cluster: cluster.id,
            spans: AttemptSpans::new(orchestrator.context.tracer.clone(), child.id, trace),
            start_paused: is_paused,
        };
        Ok((driver, excluded_nodes_message))
    }
}

/// Server-wide defaults from the settings.
fn defaults(orchestrator: &Orchestrator) -> ExecutionOptions {
    let runs = &orchestrator.context.settings.runs;
    ExecutionOptions {
        max_concurrent_nodes: runs.max_concurrent_nodes,
        lost_after_ms: u64::from(runs.lost_after_seconds) * 1000,
        ..ExecutionOptions::default()
    }
}

/// Interval at which runs without a driver are looked for.
const TAKE_OVER_INTERVAL: Duration = Duration::from_millis(1500);
/// Jitter, so that servers do not compete for the same runs at the same time.
const TAKE_OVER_JITTER_MS: u64 = 500;

pub(crate) fn take_over_interval(context: &OrchestratorContext) -> Duration {
    TAKE_OVER_INTERVAL.min(context.lease_renewal())
}

/// Takes over runs without a driver, after a crash of this server or another. Never returns.
pub(crate) async fn take_over(orchestrator: &Orchestrator, monitor: &TaskMonitor) {
    loop {
        monitor.start();
        let outcome = take_over_once(orchestrator).await;
        if let Err(error) = &outcome {
            tracing::warn!(error = %ErrorChain(error), "cannot list runs without a driver");
        }
        monitor.finish(&outcome);
        let pause = take_over_interval(&orchestrator.context)
            + Duration::from_millis(random::below(TAKE_OVER_JITTER_MS));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = orchestrator.peers.take_over.notified() => {}
        }
    }
}

async fn take_over_once(orchestrator: &Orchestrator) -> Result<(), StoreError> {
    let OrchestratorContext { store, owner, clock, .. } = &orchestrator.context;
    let free = store.read().await?.run_work_unowned(owner, clock.now()).await?;
    let mut session = store.read().await?;
    for work in free {
        let Some(run) = session.run_get(work.run_id).await? else { continue };
        if run.parent_id.is_none() {
            start_driver(orchestrator, run.id);
        }
    }
    Ok(())
}
