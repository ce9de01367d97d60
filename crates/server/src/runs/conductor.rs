//! Carries out a run graph by graph. A graph is planned when its turn comes, so that it sees what the one before it did.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stoker_engine::blueprint::{Blueprint, Options, of_plan};
use stoker_engine::run::RunEnd;
use stoker_engine::session::Generation;
use stoker_engine::session::server::Input;
use stoker_model::{
    Actor, Change, Cluster, ClusterStatus, NodeStatus, PlanId, Run, RunId, RunName, RunStatus,
};
use stoker_store::{List, NodeFilter, StoreError, Writing};
use tokio::sync::mpsc;

use super::agents::INBOX_MAX;
use super::dispatch::Dispatch;
use super::driver::{Driver, LEASE_SECONDS, Lost};
use super::durations;
use super::launch::{end, open_parts};
use super::modules;
use super::outcome::{Outcomes, Progress, Transitions, mark_nodes, note_on_parent};
use super::request::{GraphRequest, Manner, decode};
use super::restore::{rest, restore};
use super::session::has_ended;
use super::work::{GraphWork, Work};
use crate::http::error::{ApiError, ApiResult};
use crate::modules::automatic;
use crate::planning::{self, PlanRequest, StoredPlan};
use crate::state::App;

const LEASE_RENEWAL: Duration = Duration::from_secs(4);
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
    let modules = app.store.read().await?.module_run(parent).await?;
    let work = async {
        match modules {
            Some(list) => Box::pin(modules::carry_out(app, list, lease)).await,
            None => parts(app, parent).await,
        }
    };
    tokio::select! {
        done = work => done,
        () = hold(app, parent, lease) => Err(Broken::Lost),
    }
}

async fn take(app: &App, run: RunId) -> Result<Option<i64>, StoreError> {
    let now = app.clock.now();
    app.store.run_take(run, &app.owner, now, now.plus_seconds(LEASE_SECONDS)).await
}

/// Keeps the run in our hands; ends when it is in others'.
async fn hold(app: &App, run: RunId, lease: i64) {
    loop {
        tokio::time::sleep(LEASE_RENEWAL).await;
        let now = app.clock.now();
        let held = app.store.run_hold(run, lease, now, Some(now.plus_seconds(LEASE_SECONDS))).await;
        if let Err(StoreError::Stale { .. } | StoreError::Missing { .. }) = held {
            return;
        }
    }
}

async fn parts(app: &App, parent: RunId) -> Result<(), Broken> {
    let children = app.store.read().await?.run_children(parent).await?;
    for child in children {
        let status = match child.status {
            RunStatus::Ready | RunStatus::Error => child.status,
            RunStatus::Pending | RunStatus::Running => match Box::pin(part(app, &child)).await {
                Ok(status) => status,
                Err(Broken::Ended) => RunStatus::Error,
                Err(Broken::Refused(error)) if !error.is_passing() => {
                    conclude_part(app, child.id, RunStatus::Error, Some(error.message().to_owned()), None)
                        .await?
                }
                Err(broken) => return Err(broken),
            },
        };
        if status == RunStatus::Error {
            break;
        }
    }
    conclude(app, parent).await
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
    let plan_id = match work.plan_id {
        Some(id) => id,
        None => plan(app, child.id, lease, cluster.clone(), &request, &manner).await?,
    };
    if manner.dry_run {
        return conclude_part(app, child.id, RunStatus::Ready, None, Some(plan_id)).await;
    }
    let driver = Taken { app, child, lease, cluster, plan_id, request, manner }.driver().await?;
    let blueprint = Arc::clone(&driver.blueprint);
    let executors = driver.executors();
    let ended = driver.drive().await;
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
        stop_cluster(app, cluster_id).await?;
    }
    conclude_part(app, child.id, ended.status(), message, Some(plan_id)).await?;
    Ok(ended.status())
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
}

impl Taken<'_> {
    async fn driver(self) -> Result<Driver, Broken> {
        let Self { app, child, lease, cluster, plan_id, request, manner } = self;
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
        begin_part(app, child.id, &manner, &blueprint).await?;
        let (sender, inbox) = mpsc::channel(INBOX_MAX);
        let blueprint = Arc::new(blueprint);
        app.agents.add_run(child.id, Generation(lease as u64), Arc::clone(&blueprint), sender);
        let nodes =
            (0..blueprint.n_nodes() as u32).filter_map(|node| Some((blueprint.node(node)?.to_owned(), node)));
        let dispatch = Dispatch::new(app, stored.explained, &blueprint, secrets, documents.clone());
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
            refused: Vec::new(),
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

/// Says on the records that the part is at work.
async fn begin_part(app: &App, id: RunId, manner: &Manner, blueprint: &Blueprint) -> Result<(), Broken> {
    let mut writing = app.store.change(&Actor::server(), app.clock.now()).await?;
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

/// Says on the records how a part ended, and returns how: what somebody else has ended stays as it is.
async fn conclude_part(
    app: &App,
    id: RunId,
    status: RunStatus,
    message: Option<String>,
    plan: Option<PlanId>,
) -> Result<RunStatus, Broken> {
    let mut writing = app.store.change(&Actor::server(), app.clock.now()).await?;
    let mut run = writing.run_get(id).await?.ok_or(Broken::Lost)?;
    if !matches!(run.status, RunStatus::Pending | RunStatus::Running) {
        return Ok(run.status);
    }
    let now = writing.now();
    end(&mut run, status, message, now);
    if let Some(plan) = plan {
        run.result = json!({"plan_id": plan.0});
    }
    writing.run_update(&run).await?;
    note_on_parent(&mut writing, &run).await?;
    let detail = json!({"status": status.as_str(), "message": run.message});
    writing.commit(Change { action: "run.end", target: format!("run {id}"), detail }).await?;
    app.news.tell(id);
    Ok(status)
}

async fn stop_cluster(app: &App, id: stoker_model::ClusterId) -> Result<(), Broken> {
    let mut writing = app.store.change(&Actor::server(), app.clock.now()).await?;
    let Some(mut cluster) = writing.cluster_get(id).await? else { return Ok(()) };
    cluster.status = ClusterStatus::Stopped;
    writing.cluster_update(&cluster).await?;
    let target = format!("cluster {id}");
    writing.commit(Change { action: "cluster.stop", target, detail: json!({}) }).await?;
    Ok(())
}

/// Says on the records how the whole ended.
async fn conclude(app: &App, parent: RunId) -> Result<(), Broken> {
    let mut writing = app.store.change(&Actor::server(), app.clock.now()).await?;
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
    writing.run_update(&run).await?;
    let mut automatic = Vec::new();
    if !run.dry_run
        && let Some(cluster_id) = run.cluster_id
    {
        settle_cluster(&mut writing, cluster_id).await?;
        if let Some(cluster) = writing.cluster_get(cluster_id).await?.filter(|_| run.name == RunName::Deploy)
        {
            automatic = automatic::enqueue_after(&mut writing, &cluster).await?;
        }
    }
    let detail = json!({"status": status.as_str(), "message": run.message});
    writing.commit(Change { action: "run.end", target: format!("run {parent}"), detail }).await?;
    app.conduct_all(automatic);
    app.news.tell(parent);
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
