//! Carries out a list of modules: a run of one task, so that everything that holds for runs holds for it.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stoker_engine::blueprint::{Blueprint, Draft, DraftInstance, Options, Policy, Work as DraftWork};
use stoker_graph::Csr;
use stoker_model::{Actor, Change, ClusterId, Micros, ModuleAction, ModuleRun, NodeStatus, RunStatus};
use stoker_services::ServiceError;
use stoker_services::trace;
use stoker_traces::Kind;
use tokio::sync::mpsc;

use super::conductor::{Broken, call_off};
use super::driver::{Driven, Driver};
use super::launch::end;
use super::module_work::{ModuleWork, Reason};
use super::restore::restore;
use super::spans::AttemptSpans;
use super::work::Work;
use crate::agents::INBOX_MAX;
use crate::orchestrator::Orchestrator;

/// Before looking again whether it is this list's turn.
const TURN_INTERVAL: Duration = Duration::from_millis(50);
/// The same for the run it has to wait for.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// What is granted to an agent that has to end what it does.
const GRACE_MS: u64 = 5000;

/// What came of it: the message says why it is an error.
type Ended = (RunStatus, Option<String>);

pub(super) async fn carry_out(
    orchestrator: &Orchestrator,
    list: ModuleRun,
    lease: i64,
) -> Result<(), Broken> {
    if let Some(before) = list.after {
        while !orchestrator.context.has_ended(before).await {
            let bell = orchestrator.event_feed.bell(before);
            _ = tokio::time::timeout(LOOK_INTERVAL, bell.notified()).await;
        }
    }
    let list = Arc::new(list);
    let (status, message) = match begin(orchestrator, &list).await? {
        Ok(cluster) => drive(orchestrator, &list, cluster, lease).await?,
        Err(reason) => (RunStatus::Error, Some(reason)),
    };
    conclude(orchestrator, &list, lease, status, message).await
}

/// Waits for the turn of a list; or why it cannot be begun.
async fn begin(orchestrator: &Orchestrator, list: &ModuleRun) -> Result<Result<ClusterId, String>, Broken> {
    while !has_turn(orchestrator, list).await? {
        if list.deadline.is_some_and(|deadline| deadline <= orchestrator.context.clock.now()) {
            return Ok(Err("other modules were under way to the node for too long".to_owned()));
        }
        tokio::time::sleep(TURN_INTERVAL).await;
    }
    let Some(node) = orchestrator.context.store.read().await?.node_get(list.node_id).await? else {
        return Ok(Err("the node is gone".to_owned()));
    };
    if list.after.is_some() && node.status != NodeStatus::Ready {
        return Ok(Err("the instance was not set up".to_owned()));
    }
    Ok(node.cluster_id.ok_or_else(|| "the node has left its environment".to_owned()))
}

/// Looks before it asks: whoever asks writes, and many may wait.
async fn has_turn(orchestrator: &Orchestrator, list: &ModuleRun) -> Result<bool, Broken> {
    let queue = orchestrator.context.store.read().await?.module_runs_of(list.node_id).await?;
    if queue.first().is_some_and(|first| *first != list.run_id) {
        return Ok(false);
    }
    Ok(orchestrator
        .context
        .store
        .module_turn(list.run_id, list.node_id, orchestrator.context.clock.now())
        .await?)
}

async fn drive(
    orchestrator: &Orchestrator,
    list: &Arc<ModuleRun>,
    cluster: ClusterId,
    lease: i64,
) -> Result<Ended, Broken> {
    // As many at once as a run has nodes at work. Whoever waits here has its turn, so that nobody waits for it in vain.
    let _place = orchestrator.module_slots.acquire().await;
    let Some(time_ms) = time_left(orchestrator, list) else {
        return Ok((RunStatus::Error, Some("it did not begin in time".to_owned())));
    };
    let uid = list.node_id.to_string();
    let blueprint = blueprint(&uid, time_ms).map_err(|defects| {
        let told: Vec<String> = defects.iter().map(ToString::to_string).collect();
        ServiceError::invalid(told.join("; "))
    })?;
    let mut session = orchestrator.context.store.read().await?;
    let (state, projection, next_seq) = restore(&mut session, list.run_id, &blueprint).await?;
    drop(session);
    let (sender, inbox) = mpsc::channel(INBOX_MAX);
    let (blueprint, reason) = (Arc::new(blueprint), Reason::default());
    orchestrator.agents.add_run(list.run_id, Arc::clone(&blueprint), sender);
    let asked = trace::current();
    let mut traced = orchestrator.context.tracer.begin(Kind::Internal, "modules", asked);
    traced.set("stoker.run.id", list.run_id.0);
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
        nodes: [(uid.clone(), 0)].into(),
        wake_at: None,
        waiting: VecDeque::new(),
        unheard: HashSet::new(),
        cluster,
        spans: AttemptSpans::new(
            orchestrator.context.tracer.clone(),
            list.run_id,
            traced.context().or(asked),
        ),
        start_paused: false,
    };
    let ended = Box::pin(driver.drive()).await;
    orchestrator.agents.remove_run(list.run_id);
    match ended {
        Ok(Driven { end, .. }) => Ok((end.status(), reason.take().or_else(|| end.message(&blueprint)))),
        Err(lost) => {
            call_off(orchestrator, list.run_id, &[uid]).await;
            Err(lost.into())
        }
    }
}

/// Until somebody who waits is told that it takes too long.
fn time_left(orchestrator: &Orchestrator, list: &ModuleRun) -> Option<u64> {
    let Some(Micros(deadline)) = list.deadline else {
        return Some(u64::from(orchestrator.context.settings.modules.apply_seconds) * 1000);
    };
    u64::try_from((deadline - orchestrator.context.clock.now().0) / 1000).ok().filter(|left| *left > 0)
}

fn blueprint(uid: &str, time_ms: u64) -> Result<Blueprint, Vec<stoker_engine::blueprint::Defect>> {
    let policy = Policy {
        timeout_ms: time_ms,
        n_retries: 0,
        interval_ms: 1000,
        fail_on_error: true,
        // Nobody knows which modules were applied; whoever asked decides.
        retry_interrupted: false,
    };
    Blueprint::new(Draft {
        nodes: vec![uid.to_owned()],
        sync: None,
        tasks: vec![stoker_tasks::MODULES.to_owned()],
        instances: vec![DraftInstance {
            task: 0,
            node: 0,
            work: Some(DraftWork { executor: 0, policy, limit: None }),
        }],
        order: Csr::new(1, Vec::new()),
        groups: Vec::new(),
        durations: Vec::new(),
        options: Options { lost_after_ms: time_ms, grace_ms: GRACE_MS, ..Options::default() },
    })
}

/// Says on the records how it ended, and lets the next list have its turn.
async fn conclude(
    orchestrator: &Orchestrator,
    list: &ModuleRun,
    lease: i64,
    status: RunStatus,
    message: Option<String>,
) -> Result<(), Broken> {
    let mut writing =
        orchestrator.context.store.change(&Actor::server(), orchestrator.context.clock.now()).await?;
    writing.run_require(list.run_id, lease).await?;
    let mut run = writing.run_get(list.run_id).await?.ok_or(Broken::Lost)?;
    if matches!(run.status, RunStatus::Pending | RunStatus::Running) {
        let now = writing.now();
        end(&mut run, status, message, now);
        // The list of tasks is for what is under way and what went wrong.
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
    writing.commit(Change { action, target: format!("node {}", list.node_id), detail }).await?;
    orchestrator.notify_watchers(list.run_id);
    Ok(())
}
