//! Executes a module list as a run with a single task, so that leases, takeover and history apply to it.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stoker_engine::blueprint::{
    Blueprint, Draft, DraftInstance, DraftWork, ExecutionOptions, Handlers, Policy,
};
use stoker_graph::Csr;
use stoker_model::{
    Actor, AgentUid, AuditChange, ClusterId, Micros, ModuleAction, ModuleRun, NodeIdx, NodeStatus, RunStatus,
    TaskIdx,
};
use stoker_services::ServiceError;
use stoker_services::trace;
use stoker_traces::SpanKind;
use tokio::sync::mpsc;

use super::conductor::{Interruption, cancel_on_agents};
use super::driver::{Driven, Driver};
use super::launch::end;
use super::module_work::{ModuleWork, Reason};
use super::restore::restore;
use super::spans::AttemptSpans;
use super::work::Work;
use crate::agents::INBOX_MAX;
use crate::orchestrator::Orchestrator;

/// Poll interval while another module list has the node.
const TURN_INTERVAL: Duration = Duration::from_millis(50);
/// Poll interval while the preceding run has not ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Grace period for an agent to end a cancelled attempt.
const GRACE_MS: u64 = 5000;

/// Final status, and the message of an error.
type Ended = (RunStatus, Option<String>);

pub(super) async fn carry_out(
    orchestrator: &Orchestrator,
    list: ModuleRun,
    lease: i64,
) -> Result<(), Interruption> {
    if let Some(before) = list.after {
        while !orchestrator.context.has_ended(before).await {
            let bell = orchestrator.event_feed.subscribe(before);
            _ = tokio::time::timeout(LOOK_INTERVAL, bell.notified()).await;
        }
    }
    let list = Arc::new(list);
    let (status, message) = match begin(orchestrator, &list).await? {
        Ok(cluster) => drive(orchestrator, &list, cluster, lease).await?,
        Err(reason) => (RunStatus::Error, Some(reason.to_string())),
    };
    conclude(orchestrator, &list, lease, status, message).await
}

/// Why a list of modules cannot start.
#[derive(Debug, thiserror::Error)]
enum NotStarted {
    #[error("timed out waiting for other modules on the node")]
    Timeout,
    #[error("the node was deleted")]
    NodeDeleted,
    #[error("the node was not deployed")]
    NotDeployed,
    #[error("the node was removed from its cluster")]
    NoCluster,
}

/// Waits until the list is first in the queue of its node. Returns the node's cluster, or why the list cannot
/// start.
async fn begin(
    orchestrator: &Orchestrator,
    list: &ModuleRun,
) -> Result<Result<ClusterId, NotStarted>, Interruption> {
    while !has_turn(orchestrator, list).await? {
        if list.deadline.is_some_and(|deadline| deadline <= orchestrator.context.clock.now()) {
            return Ok(Err(NotStarted::Timeout));
        }
        tokio::time::sleep(TURN_INTERVAL).await;
    }
    let Some(node) = orchestrator.context.store.read().await?.node_get(list.node_id).await? else {
        return Ok(Err(NotStarted::NodeDeleted));
    };
    if list.after.is_some() && node.status != NodeStatus::Ready {
        return Ok(Err(NotStarted::NotDeployed));
    }
    Ok(node.cluster_id.ok_or(NotStarted::NoCluster))
}

/// Reads the queue before it writes, because many lists may be waiting.
async fn has_turn(orchestrator: &Orchestrator, list: &ModuleRun) -> Result<bool, Interruption> {
    let queue = orchestrator.context.store.read().await?.module_runs_of_node(list.node_id).await?;
    if queue.first().is_some_and(|first| *first != list.run_id) {
        return Ok(false);
    }
    Ok(orchestrator
        .context
        .store
        .module_run_acquire_node(list.run_id, list.node_id, orchestrator.context.clock.now())
        .await?)
}

async fn drive(
    orchestrator: &Orchestrator,
    list: &Arc<ModuleRun>,
    cluster: ClusterId,
    lease: i64,
) -> Result<Ended, Interruption> {
    // Limited to `nodes_at_once`. Acquired after the turn on the node, so that no list holds a slot while it
    // waits for its node.
    let _place = orchestrator.module_slots.acquire().await;
    let Some(time_ms) = time_left(orchestrator, list) else {
        return Ok((RunStatus::Error, Some("timed out before the modules could be applied".to_owned())));
    };
    let uid = AgentUid::from(list.node_id);
    let blueprint = blueprint(&uid, time_ms).map_err(|defects| {
        let listed: Vec<String> = defects.iter().map(ToString::to_string).collect();
        ServiceError::invalid(listed.join("; "))
    })?;
    let mut session = orchestrator.context.store.read().await?;
    let (state, projection, next_seq) = restore(&mut session, list.run_id, &blueprint).await?;
    drop(session);
    let (sender, inbox) = mpsc::channel(INBOX_MAX);
    let (blueprint, reason) = (Arc::new(blueprint), Reason::default());
    orchestrator.agents.add_run(list.run_id, Arc::clone(&blueprint), sender);
    let parent = trace::current();
    let mut traced = orchestrator.context.tracer.begin(SpanKind::Internal, "modules", parent);
    traced.set_attribute("stoker.run.id", list.run_id.0);
    let work = ModuleWork::new(orchestrator, Arc::clone(list), cluster, reason.clone());
    let driver = Driver {
        orchestrator: orchestrator.clone(),
        run: list.run_id,
        lease,
        blueprint: Arc::clone(&blueprint),
        state,
        next_seq,
        inbox,
        projection,
        work: Work::Modules(work),
        nodes: [(uid.clone(), NodeIdx::new(0))].into(),
        wake_at: None,
        waiting: VecDeque::new(),
        unconfirmed: HashSet::new(),
        cluster,
        spans: AttemptSpans::new(
            orchestrator.context.tracer.clone(),
            list.run_id,
            traced.context().or(parent),
        ),
        start_paused: false,
    };
    let ended = Box::pin(driver.drive()).await;
    orchestrator.agents.remove_run(list.run_id);
    match ended {
        Ok(Driven { end, .. }) => Ok((end.status(), reason.take().or_else(|| end.message(&blueprint)))),
        Err(lost) => {
            cancel_on_agents(orchestrator, list.run_id, &[uid]).await;
            Err(lost.into())
        }
    }
}

/// Milliseconds until the deadline of the requester, or the default timeout; `None` after the deadline.
fn time_left(orchestrator: &Orchestrator, list: &ModuleRun) -> Option<u64> {
    let Some(Micros(deadline)) = list.deadline else {
        return Some(u64::from(orchestrator.context.settings.modules.apply_seconds) * 1000);
    };
    u64::try_from((deadline - orchestrator.context.clock.now().0) / 1000).ok().filter(|left| *left > 0)
}

fn blueprint(uid: &AgentUid, time_ms: u64) -> Result<Blueprint, Vec<stoker_engine::blueprint::Defect>> {
    let policy = Policy {
        timeout_ms: time_ms,
        n_retries: 0,
        interval_ms: 1000,
        fail_on_error: true,
        // Which modules were applied is unknown; the requester decides whether to retry.
        retry_interrupted: false,
    };
    Blueprint::new(Draft {
        nodes: vec![uid.to_string()],
        sync: None,
        tasks: vec![stoker_tasks::MODULES_TASK_TYPE.to_owned()],
        instances: vec![DraftInstance {
            task: TaskIdx::new(0),
            node: NodeIdx::new(0),
            work: Some(DraftWork { executor: NodeIdx::new(0), policy, limit: None }),
        }],
        order: Csr::new(1, Vec::new()),
        groups: Vec::new(),
        handlers: Handlers::default(),
        durations: Vec::new(),
        options: ExecutionOptions {
            lost_after_ms: time_ms,
            result_grace_ms: GRACE_MS,
            ..ExecutionOptions::default()
        },
    })
}

/// Records the end of the run and releases the node for the next list.
async fn conclude(
    orchestrator: &Orchestrator,
    list: &ModuleRun,
    lease: i64,
    status: RunStatus,
    message: Option<String>,
) -> Result<(), Interruption> {
    let mut writing =
        orchestrator.context.store.begin_write(&Actor::server(), orchestrator.context.clock.now()).await?;
    writing.run_lease_require(list.run_id, lease).await?;
    let mut run = writing.run_get(list.run_id).await?.ok_or(Interruption::Lost)?;
    if matches!(run.status, RunStatus::Pending | RunStatus::Running) {
        let now = writing.now();
        end(&mut run, status, message, now);
        // The task list shows only active and failed module runs.
        run.is_hidden = status == RunStatus::Ready;
        writing.run_update(&run).await?;
    }
    writing.module_run_delete(list.run_id).await?;
    let action = match list.action {
        ModuleAction::Apply => "module.apply",
        ModuleAction::Remove => "module.remove",
    };
    let modules: Vec<&str> = list.items.iter().map(|item| item.uuid.as_str()).collect();
    let detail = json!({"run": list.run_id.0, "modules": modules, "status": status.as_str()});
    writing.commit(AuditChange { action, target: format!("node {}", list.node_id), detail }).await?;
    orchestrator.notify_watchers(list.run_id);
    Ok(())
}
