//! Checks of nodes for drift: compares them with the state that tasks last applied, and stores the results.
//!
//! A check changes nothing and belongs to no run. It ends when a run of the cluster starts, because the run changes what
//! the check compares.

mod node;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stoker_model::{Actor, AuditChange, Cluster, DriftCheck, DriftCounts, DriftResult, ErrorChain, Micros};
use stoker_services::planning::{self, CheckPlan, CheckScope, plan_checks};
use stoker_services::runs::records::{active, require_idle};
use stoker_services::{ServiceError, ServiceResult};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::orchestrator::Orchestrator;

/// Maximum number of nodes that are compared concurrently; bounds the memory for their parameters and the load of a
/// sweep over a large fleet.
const NODES_AT_ONCE: usize = 50;
/// Results per transaction.
const BATCH_MAX: usize = 1000;
/// Interval at which the server confirms that it still performs the check, and writes results.
const INTERVAL: Duration = Duration::from_secs(5);
/// Seconds without a confirmation after which a check is lost.
const ALIVE_SECONDS: i64 = 60;

/// Starts a check of the nodes of a cluster in the background.
pub async fn start_check(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: Cluster,
    scope: CheckScope,
) -> ServiceResult<DriftCheck> {
    Ok(start(orchestrator, actor, cluster, scope).await?.0)
}

/// Checks the nodes of a cluster and waits for the end. Dropping the future does not stop the check.
pub async fn check(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: Cluster,
    scope: CheckScope,
) -> ServiceResult<()> {
    let (_, ended) = start(orchestrator, actor, cluster, scope).await?;
    ended.await.unwrap_or_else(|_| Err(ServiceError::internal("the check of the nodes was aborted")))
}

type Ended = oneshot::Receiver<ServiceResult<()>>;

async fn start(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: Cluster,
    scope: CheckScope,
) -> ServiceResult<(DriftCheck, Ended)> {
    let context = &orchestrator.context;
    let mut session = context.store.snapshot().await?;
    planning::check_request(&context.services.planning, &mut session, &cluster, &scope.plan_request())
        .await?;
    drop(session);
    let now = context.clock.now();
    let mut writing = context.store.begin_write(actor, now).await?;
    require_idle(&mut writing, cluster.id).await?;
    if let Some(running) = writing.drift_check_running(cluster.id, now).await? {
        return Err(ServiceError::conflict(format!(
            "drift check {} of cluster {} is running; wait until it ends",
            running.id, cluster.id
        )));
    }
    let check = writing.drift_check_create(cluster.id, &scope.graph_type, alive_until(now)).await?;
    let detail = json!({"check": check.id.0, "graph_type": scope.graph_type.as_str()});
    writing
        .commit(AuditChange { action: "drift.check", target: format!("cluster {}", cluster.id), detail })
        .await?;
    let (send, ended) = oneshot::channel();
    let (worker, begun) = (orchestrator.clone(), check.clone());
    orchestrator.background.spawn(async move {
        let result = perform(&worker, cluster, scope, &begun).await;
        if let Err(error) = &result {
            tracing::warn!(drift.check = begun.id.0, error = %ErrorChain(error), "drift check failed");
        }
        _ = send.send(result);
    });
    Ok((check, ended))
}

fn alive_until(now: Micros) -> Micros {
    now.plus_seconds(ALIVE_SECONDS)
}

async fn perform(
    orchestrator: &Orchestrator,
    cluster: Cluster,
    scope: CheckScope,
    check: &DriftCheck,
) -> ServiceResult<()> {
    let mut sweep = Sweep { orchestrator, check, counts: DriftCounts::default(), batch: Vec::new() };
    let result = sweep.run(cluster, scope).await;
    let problem = result.as_ref().err().map(ToString::to_string);
    let (counts, now) = (sweep.counts, orchestrator.context.clock.now());
    orchestrator.context.store.drift_check_finish(check, counts, problem.as_deref(), now).await?;
    result
}

/// A check in progress.
struct Sweep<'s> {
    orchestrator: &'s Orchestrator,
    check: &'s DriftCheck,
    counts: DriftCounts,
    batch: Vec<DriftResult>,
}

impl Sweep<'_> {
    async fn run(&mut self, cluster: Cluster, scope: CheckScope) -> ServiceResult<()> {
        let planning = &self.orchestrator.context.services.planning;
        let mut plan = {
            let planned = plan_checks(planning, cluster, scope);
            let mut planned = std::pin::pin!(planned);
            loop {
                tokio::select! {
                    plan = &mut planned => break plan?,
                    () = tokio::time::sleep(INTERVAL) => self.write().await?,
                }
            }
        };
        let decided = std::mem::take(&mut plan.decided);
        self.batch.extend(decided);
        let mut nodes = std::mem::take(&mut plan.nodes).into_iter();
        let plan: Arc<CheckPlan> = Arc::new(plan);
        let mut comparing: JoinSet<Vec<DriftResult>> = JoinSet::new();
        let mut ticks = tokio::time::interval(INTERVAL);
        loop {
            while comparing.len() < NODES_AT_ONCE
                && let Some(node) = nodes.next()
            {
                let (orchestrator, plan) = (self.orchestrator.clone(), Arc::clone(&plan));
                comparing.spawn(async move { node::compare(&orchestrator, &plan, &node).await });
            }
            tokio::select! {
                done = comparing.join_next() => match done {
                    None => break,
                    Some(Ok(results)) => self.batch.extend(results),
                    Some(Err(error)) => {
                        return Err(ServiceError::internal_from("the comparison with a node failed", error));
                    }
                },
                _ = ticks.tick() => self.write().await?,
            }
            if self.batch.len() >= BATCH_MAX {
                self.write().await?;
            }
        }
        self.write().await
    }

    /// Stores the results, unless a run has started: it changes what was compared.
    async fn write(&mut self) -> ServiceResult<()> {
        let context = &self.orchestrator.context;
        if let Some(run) = active(&mut context.store.read().await?, self.check.cluster_id).await? {
            return Err(ServiceError::conflict(format!("run {} of the cluster started", run.id)));
        }
        let batch = std::mem::take(&mut self.batch);
        for result in &batch {
            self.counts.add(result.status);
        }
        let now = context.clock.now();
        Ok(context.store.drift_record(self.check, &batch, alive_until(now), now).await?)
    }
}
