//! Carries out a run graph by graph. A graph is planned when its turn comes, so that it sees what the one before it did.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stoker_engine::blueprint::{Blueprint, Options, of_plan};
use stoker_engine::run::RunEnd;
use stoker_engine::session::server::Input;
use stoker_model::{
    Actor, Change, Cluster, ClusterStatus, NodeStatus, PlanId, Run, RunId, RunName, RunStatus, Topic,
};
use stoker_store::{List, NodeFilter, StoreError, Writing};
use tokio::sync::mpsc;
use tracing::Instrument as _;

use super::agents::INBOX_MAX;
use super::dispatch::Dispatch;
use super::driver::{Driver, Lost};
use super::durations;
use super::launch::{end, mark_stopped, open_parts, was_stopped};
use super::modules;
use super::outcome::{Outcomes, Progress, Transitions, mark_nodes, note_on_parent};
use super::reapply;
use super::request::{GraphRequest, Manner, decode};
use super::restore::{rest, restore};
use super::session::has_ended;
use super::work::{GraphWork, Work};
use crate::http::error::{ApiError, ApiResult};
use crate::modules::automatic;
use crate::modules::reapply::Reapply;
use crate::planning::{self, PlanRequest, StoredPlan};
use crate::state::App;
use crate::trace::Trace;
use crate::webhooks::run_news;

/// Before trying again when the database does not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// Why a part of a run ended without its engine saying so.
pub(super) enum Broken {
    /// Somebody else carries it out.
    Lost,
    /// Somebody ended it before it began.
    Ended,
    /// It cannot be done.
    Refused(ApiError),
}

impl From<Lost> for Broken {
    fn from(_: Lost) -> Self {
        Self::Lost
    }
}

impl From<ApiError> for Broken {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Stale { .. } | StoreError::Missing { .. } => Self::Lost,
            other => Self::Refused(other.into()),
        }
    }
}

/// Carries a run out to its end, unless somebody else does.
pub(crate) async fn conduct(app: App, parent: RunId) {
    loop {
        match Box::pin(try_conduct(&app, parent)).await {
            Ok(()) | Err(Broken::Lost | Broken::Ended) => return,
            Err(Broken::Refused(error)) if error.is_passing() => {
                tracing::warn!(run.id = parent.0, error = error.message(), "the run waits");
                tokio::time::sleep(PAUSE).await;
            }
            Err(Broken::Refused(error)) => {
                tracing::error!(run.id = parent.0, error = error.message(), "the run cannot be carried out");
                return;
            }
        }
    }
}

async fn try_conduct(app: &App, parent: RunId) -> Result<(), Broken> {
    let Some(lease) = take(app, parent).await? else { return Err(Broken::Lost) };
    let mut session = app.store.read().await?;
    let modules = session.module_run(parent).await?;
    let options = session.run_work(parent).await?.ok_or(Broken::Lost)?.options;
    drop(session);
    let work = async {
        match (modules, Reapply::decode(&options)) {
            (Some(list), _) => Box::pin(modules::carry_out(app, list, lease)).await,
            (None, Some(wanted)) => Box::pin(reapply::carry_out(app, (parent, lease), &wanted)).await,
            (None, None) => parts(app, parent, lease).await,
        }
    };
    let done = tokio::select! {
        done = work => done,
        () = hold(app, parent, lease) => Err(Broken::Lost),
    };
    // Whoever was at work on a part was not asked when the run was lost.
    for (run, executors) in app.agents.take_abandoned() {
        call_off(app, run, &executors).await;
    }
    done
}

async fn take(app: &App, run: RunId) -> Result<Option<i64>, StoreError> {
    let now = app.clock.now();
    app.store.run_take(run, &app.owner, now, app.leased_until(now)).await
}

/// Keeps the run in our hands; ends when it is in others'.
async fn hold(app: &App, run: RunId, lease: i64) {
    loop {
        tokio::time::sleep(app.lease_renewal()).await;
        let now = app.clock.now();
        let held = app.store.run_hold(run, lease, now, Some(app.leased_until(now))).await;
        if let Err(StoreError::Stale { .. } | StoreError::Missing { .. }) = held {
            return;
        }
    }
}

async fn parts(app: &App, parent: RunId, lease: i64) -> Result<(), Broken> {
    let children = app.store.read().await?.run_children(parent).await?;
    for child in children {
        let status = match child.status {
            RunStatus::Ready | RunStatus::Error => child.status,
            RunStatus::Pending | RunStatus::Running => match Box::pin(part(app, &child)).await {
                Ok(status) => status,
                Err(Broken::Ended) => RunStatus::Error,
                Err(Broken::Refused(error)) if !error.is_passing() => {
                    let message = Some(error.message().to_owned());
                    let ended =
                        Conclusion { status: RunStatus::Error, message, plan: None, is_stopped: false };
                    conclude_part(app, (parent, lease), child.id, ended).await?
                }
                Err(broken) => return Err(broken),
            },
        };
        if status == RunStatus::Error {
            break;
        }
    }
    conclude(app, parent, lease).await
}

/// Carries one graph out: how it ended.
async fn part(app: &App, child: &Run) -> Result<RunStatus, Broken> {
    let Some(lease) = take(app, child.id).await? else { return Err(Broken::Lost) };
    let mut session = app.store.read().await?;
    let work = session.run_work(child.id).await?.ok_or(Broken::Lost)?;
    let (request, manner) = decode(&work.options)
        .ok_or_else(|| ApiError::bad_request("what was asked of the run was written by another version"))?;
    let cluster_id = child.cluster_id.ok_or_else(|| ApiError::not_found("Cluster"))?;
    let cluster = session.cluster_get(cluster_id).await?.ok_or_else(|| ApiError::not_found("Cluster"))?;
    drop(session);
    let trace = Trace::of(&work.options);
    let span = tracing::info_span!("run", run.id = child.id.0, trace_id = trace.as_ref().map(Trace::id));
    let plan_id = if let Some(id) = work.plan_id {
        id
    } else {
        let planned = Box::pin(plan(app, child.id, lease, cluster.clone(), &request, &manner));
        planned.instrument(span.clone()).await?
    };
    if manner.dry_run {
        let plan = Some(plan_id);
        let ended = Conclusion { status: RunStatus::Ready, message: None, plan, is_stopped: false };
        return conclude_part(app, (child.id, lease), child.id, ended).await;
    }
    let trace = trace.map(|trace| trace.to_string());
    let taken = Taken { app, child, lease, cluster, plan_id, request, manner, trace };
    let driver = Box::pin(taken.driver()).await?;
    let blueprint = Arc::clone(&driver.blueprint);
    let executors = driver.executors();
    let ended = Box::pin(driver.drive()).instrument(span).await;
    app.agents.remove_run(child.id);
    let ended = match ended {
        Ok(ended) => ended,
        Err(lost) => {
            call_off(app, child.id, &executors).await;
            return Err(lost.into());
        }
    };
    let message = ended.message(&blueprint);
    // Before the part is over, so that a crash in between does not lose it.
    if ended == RunEnd::Stopped {
        stop_cluster(app, (child.id, lease), cluster_id).await?;
    }
    let is_stopped = ended == RunEnd::Stopped;
    let ended = Conclusion { status: ended.status(), message, plan: Some(plan_id), is_stopped };
    conclude_part(app, (child.id, lease), child.id, ended).await
}

/// What is gone or was ended from outside is not carried out by anybody: agents that are at it leave off.
pub(super) async fn call_off(app: &App, run: RunId, executors: &[String]) {
    if has_ended(app, run).await {
        for uid in executors {
            app.agents.step(uid, Input::RunIs { run, generation: None }, app.clock.now());
        }
    }
}

/// The plan of a part, made now or before.
async fn plan(
    app: &App,
    run: RunId,
    lease: i64,
    cluster: Cluster,
    request: &GraphRequest,
    manner: &Manner,
) -> Result<PlanId, Broken> {
    let plan_id = if let Some(id) = request.plan {
        id
    } else {
        let (subgraphs, force) = (manner.subgraphs.clone(), manner.force);
        let wanted = PlanRequest { subgraphs, force, ..request.to_plan() };
        planning::make_plan(app, &Actor::server(), cluster, wanted).await?.id
    };
    let mut writing = app.store.change(&Actor::server(), app.clock.now()).await?;
    writing.run_work_plan(run, lease, plan_id).await?;
    let detail = json!({"plan_id": plan_id.0});
    writing.commit(Change { action: "run.plan", target: format!("run {run}"), detail }).await?;
    Ok(plan_id)
}

/// A part of a run that is in our hands.
struct Taken<'a> {
    app: &'a App,
    child: &'a Run,
    lease: i64,
    cluster: Cluster,
    plan_id: PlanId,
    request: GraphRequest,
    manner: Manner,
    trace: Option<String>,
}

impl Taken<'_> {
    async fn driver(self) -> Result<Driver, Broken> {
        let Self { app, child, lease, cluster, plan_id, request, manner, trace } = self;
        let mut session = app.store.read().await?;
        let record = session.plan_get(plan_id).await?.ok_or_else(|| ApiError::not_found("Plan"))?;
        let common_id = record.common_id;
        let documents: HashMap<_, _> = session.plan_nodes(plan_id).await?.into_iter().collect();
        let stored = StoredPlan::read(app, &mut session, record).await?;
        let secrets = planning::secrets_of(&mut session, common_id).await?;
        let secrets = secrets.values().map(str::to_owned).collect();
        let metadata = planning::metadata(app, &mut session, &cluster, &request.graph_type).await?;
        let known = durations::read(&mut session, cluster.id, &stored.explained.plan).await?;
        let options = manner.options(&defaults(app));
        let blueprint = of_plan(&stored.explained.plan, options, &known, stoker_tasks::timing_of)
            .map_err(|defects| refused(&defects))?;
        let blueprint = match request.rest_of {
            Some(former) => rest(&mut session, former, &blueprint).await?,
            None => blueprint,
        };
        let (state, projection, next_seq) = restore(&mut session, child.id, &blueprint).await?;
        drop(session);
        begin_part(app, (child.id, lease), &manner, &blueprint).await?;
        let (sender, inbox) = mpsc::channel(INBOX_MAX);
        let blueprint = Arc::new(blueprint);
        app.agents.add_run(child.id, Arc::clone(&blueprint), sender);
        let nodes =
            (0..blueprint.n_nodes() as u32).filter_map(|node| Some((blueprint.node(node)?.to_owned(), node)));
        let dispatch =
            Dispatch::new(app, stored.explained, &blueprint, secrets, documents.clone()).traced(trace);
        let outcomes = Outcomes {
            run: child.id,
            cluster: cluster.id,
            common_id,
            documents,
            is_real: manner.is_real(),
            transitions: Transitions::new(&metadata),
            progress: Progress::default(),
        };
        Ok(Driver {
            app: app.clone(),
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
            again: Vec::new(),
            unheard: HashSet::new(),
        })
    }
}

/// What the operator of the server chose.
fn defaults(app: &App) -> Options {
    let runs = &app.settings.runs;
    Options {
        nodes_at_once: runs.nodes_at_once,
        lost_after_ms: u64::from(runs.lost_after_seconds) * 1000,
        ..Options::default()
    }
}

fn refused(defects: &[stoker_engine::blueprint::Defect]) -> ApiError {
    let told: Vec<String> = defects.iter().take(20).map(ToString::to_string).collect();
    ApiError::bad_request(format!("the plan cannot be run: {}", told.join("; ")))
}

/// A run and the generation with which this server has it: whoever lost it changes nothing.
pub(super) type Held = (RunId, i64);

pub(super) async fn change(app: &App, (run, lease): Held) -> Result<Writing, Broken> {
    let mut writing = app.store.change(&Actor::server(), app.clock.now()).await?;
    writing.run_require(run, lease).await?;
    Ok(writing)
}

/// Says on the records that the part is at work.
async fn begin_part(app: &App, held: Held, manner: &Manner, blueprint: &Blueprint) -> Result<(), Broken> {
    let mut writing = change(app, held).await?;
    let id = held.0;
    let mut run = writing.run_get(id).await?.ok_or(Broken::Lost)?;
    match run.status {
        RunStatus::Running => return Ok(()),
        RunStatus::Pending => run.status = RunStatus::Running,
        // It was stopped while it was planned.
        RunStatus::Ready | RunStatus::Error => return Err(Broken::Ended),
    }
    run.started_at = Some(writing.now());
    writing.run_update(&run).await?;
    if manner.is_real() {
        mark_nodes(&mut writing, blueprint).await?;
    }
    writing.commit(Change { action: "run.begin", target: format!("run {id}"), detail: json!({}) }).await?;
    Ok(())
}

/// How a part ended.
struct Conclusion {
    status: RunStatus,
    message: Option<String>,
    plan: Option<PlanId>,
    is_stopped: bool,
}

/// Says on the records how a part ended, and returns how: what somebody else has ended stays as it is.
async fn conclude_part(app: &App, held: Held, id: RunId, ended: Conclusion) -> Result<RunStatus, Broken> {
    let Conclusion { status, message, plan, is_stopped } = ended;
    let mut writing = change(app, held).await?;
    let mut run = writing.run_get(id).await?.ok_or(Broken::Lost)?;
    if !matches!(run.status, RunStatus::Pending | RunStatus::Running) {
        return Ok(run.status);
    }
    let now = writing.now();
    end(&mut run, status, message, now);
    if let Some(plan) = plan {
        run.result = json!({"plan_id": plan.0});
    }
    if is_stopped {
        mark_stopped(&mut run);
    }
    writing.run_update(&run).await?;
    note_on_parent(&mut writing, &run).await?;
    let detail = json!({"status": status.as_str(), "message": run.message});
    writing.commit(Change { action: "run.end", target: format!("run {id}"), detail }).await?;
    app.tell_news(id);
    Ok(status)
}

async fn stop_cluster(app: &App, held: Held, id: stoker_model::ClusterId) -> Result<(), Broken> {
    let mut writing = change(app, held).await?;
    let Some(mut cluster) = writing.cluster_get(id).await? else { return Ok(()) };
    cluster.status = ClusterStatus::Stopped;
    writing.cluster_update(&cluster).await?;
    let target = format!("cluster {id}");
    writing.commit(Change { action: "cluster.stop", target, detail: json!({}) }).await?;
    Ok(())
}

/// Says on the records how the whole ended.
async fn conclude(app: &App, parent: RunId, lease: i64) -> Result<(), Broken> {
    let mut writing = change(app, (parent, lease)).await?;
    let now = writing.now();
    for mut part in open_parts(&mut writing, parent).await? {
        end(&mut part, RunStatus::Error, Some("Aborted".to_owned()), now);
        writing.run_update(&part).await?;
    }
    let children = writing.run_children(parent).await?;
    let failed = children.iter().find(|run| run.status == RunStatus::Error);
    let mut run = writing.run_get(parent).await?.ok_or(Broken::Lost)?;
    let (status, message) = match failed {
        Some(child) => (RunStatus::Error, child.message.clone()),
        None => (RunStatus::Ready, children.iter().rev().find_map(|child| child.message.clone())),
    };
    end(&mut run, status, message, now);
    if children.iter().any(was_stopped) {
        mark_stopped(&mut run);
    }
    writing.run_update(&run).await?;
    let topic = match status {
        RunStatus::Ready => Topic::RunSucceeded,
        _ if was_stopped(&run) => Topic::RunStopped,
        _ => Topic::RunFailed,
    };
    let mut automatic = Vec::new();
    if !run.dry_run
        && let Some(cluster_id) = run.cluster_id
    {
        settle_cluster(&mut writing, cluster_id).await?;
        if let Some(cluster) = writing.cluster_get(cluster_id).await? {
            writing.notification_add(&run_news(topic, &run, &cluster, now)).await?;
        }
        if let Some(cluster) = writing.cluster_get(cluster_id).await?.filter(|_| run.name == RunName::Deploy)
        {
            automatic = automatic::enqueue_after(&mut writing, &cluster).await?;
        }
    }
    let detail = json!({"status": status.as_str(), "message": run.message});
    writing.commit(Change { action: "run.end", target: format!("run {parent}"), detail }).await?;
    app.metrics.engine.run_ended(topic);
    app.webhooks.ring();
    app.conduct_all(automatic);
    app.tell_news(parent);
    Ok(())
}

/// What a cluster is after a run: that depends on its nodes, unless somebody stopped it.
async fn settle_cluster(writing: &mut Writing, id: stoker_model::ClusterId) -> Result<(), StoreError> {
    let Some(mut cluster) = writing.cluster_get(id).await? else { return Ok(()) };
    if cluster.status == ClusterStatus::Stopped {
        return Ok(());
    }
    let filter = NodeFilter { cluster: Some(Some(id)), ..NodeFilter::default() };
    let nodes = writing.node_list(&filter, &List::default()).await?.items;
    let is_well = |node: &stoker_model::Node| node.status == NodeStatus::Ready && node.error_type.is_none();
    let is_untouched = |node: &stoker_model::Node| node.pending_addition && node.error_type.is_none();
    cluster.status = if nodes.iter().all(is_well) {
        ClusterStatus::Operational
    } else if nodes.iter().all(is_untouched) {
        ClusterStatus::New
    } else {
        ClusterStatus::PartiallyDeployed
    };
    writing.cluster_update(&cluster).await?;
    Ok(())
}

/// Runs that nobody carries out, taken up from time to time: after a crash of this server or of another.
pub(crate) async fn take_up(app: &App) -> ApiResult<()> {
    let free = app.store.read().await?.run_work_free(&app.owner, app.clock.now()).await?;
    let mut session = app.store.read().await?;
    for work in free {
        let Some(run) = session.run_get(work.run_id).await? else { continue };
        if run.parent_id.is_none() {
            app.conduct(run.id);
        }
    }
    Ok(())
}
