//! History of a run with a plan: the plan contains the executed task fields, and instances without a record
//! have the status that follows from the plan.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::http::StatusCode;
use stoker_engine::blueprint::Executor;
use stoker_manifest::task::render;
use stoker_model::{
    HistoryRecord, HistoryStatus, InstanceIdx, Json, JsonMap, PlanId, RunId, RunStatus, Task, TaskReport,
};
use stoker_planner::{Details, ExplainedPlan, Instance, InstanceAction};
use stoker_services::planning::{PlanSecrets, StoredPlan};
use stoker_state::SYNC;
use stoker_store::{HistoryFilter, Session};

use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Node ID of a task without a node.
const NO_NODE: &str = "-";
/// Size of the cache of rendered tasks. Instances of a task are mostly adjacent, and most of them are equal.
const CACHE_MAX: usize = 256;

/// History of a run. Its records do not contain the task fields: a large cluster has a million records, most
/// of them with equal fields. The fields are added during iteration.
pub(super) struct RunHistory {
    rows: Vec<Row>,
    plan: Option<Planned>,
}

struct Row {
    record: HistoryRecord,
    position: Option<PlanPosition>,
}

/// Position of the task of a row in the plan.
#[derive(Clone, Copy)]
struct PlanPosition {
    task_idx: usize,
    instance: Option<InstanceIdx>,
}

struct Planned {
    explained: Arc<ExplainedPlan>,
    /// Task fields by name, as the plan was computed from them.
    graph: JsonMap,
    secrets: PlanSecrets,
}

impl RunHistory {
    /// Creates the history of a run without a plan.
    pub(super) fn from_records(records: Vec<HistoryRecord>) -> Self {
        let row = |record| Row { record, position: None };
        Self { rows: records.into_iter().map(row).collect(), plan: None }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns each record with its task fields, in order.
    pub(super) fn into_records(self) -> impl Iterator<Item = HistoryRecord> {
        let Self { rows, plan } = self;
        let mut cache: HashMap<(usize, usize), JsonMap> = HashMap::new();
        rows.into_iter().map(move |Row { mut record, position }| {
            if let (Some(position), Some(plan)) = (position, &plan) {
                record.task = plan.task(position, &record.node_id, &mut cache);
            }
            record
        })
    }
}

impl Planned {
    /// Renders the task fields with secrets masked.
    fn task(
        &self,
        position: PlanPosition,
        node: &str,
        cache: &mut HashMap<(usize, usize), JsonMap>,
    ) -> JsonMap {
        let details = position.instance.and_then(|instance| self.explained.plan.details(instance));
        let name = &self.explained.plan.tasks[position.task_idx].name;
        if self.secrets.has_node_secrets(node) {
            return self.mask(node, with_computed_fields(definition(&self.graph, name), details));
        }
        let key = (position.task_idx, details.map_or(0, |details| std::ptr::from_ref(details).addr()));
        if let Some(cached) = cache.get(&key) {
            return cached.clone();
        }
        let task = self.mask(node, with_computed_fields(definition(&self.graph, name), details));
        if cache.len() >= CACHE_MAX {
            cache.clear();
        }
        cache.insert(key, task.clone());
        task
    }

    /// Masks the task as one value, so that fields whose names denote secrets are masked too.
    fn mask(&self, node: &str, task: JsonMap) -> JsonMap {
        let mut task = Json::Object(task);
        self.secrets.mask(node, &mut task);
        match task {
            Json::Object(task) => task,
            _ => JsonMap::new(),
        }
    }
}

/// Reads the history of all instances of the plan that match the filter, sorted by start time (not started
/// last), node and task name.
pub(super) async fn read_history(
    app: &App,
    session: &mut Session,
    run: RunId,
    plan: PlanId,
    filter: &HistoryFilter,
) -> ApiResult<RunHistory> {
    let Some(record) = session.plan_get(plan).await? else {
        return Ok(RunHistory::from_records(session.history_list(&[run], filter).await?));
    };
    // The records are not filtered by status: an instance whose record was filtered out would be treated as
    // an instance without a record.
    let nodes = filter.nodes.clone().filter(|nodes| !nodes.iter().any(|node| node == NO_NODE));
    let placed = HistoryFilter { nodes, statuses: None, task_names: filter.task_names.clone() };
    let written = session.history_list(&[run], &placed).await?;
    let has_ended = session
        .run_get(run)
        .await?
        .is_none_or(|run| !matches!(run.status, RunStatus::Pending | RunStatus::Running));
    let stored = StoredPlan::read(&app.services.planning, session, record).await?;
    let graph = session.documents_get(&[stored.record.graph_id]).await?.into_values().next();
    let (explained, filter) = (Arc::clone(&stored.explained), filter.clone());
    // On a blocking thread: the instances of a large cluster would delay other requests.
    let joined = tokio::task::spawn_blocking(move || {
        HistoryJoin { explained: &explained, run, has_ended }.join(written, &filter)
    });
    let rows = joined.await.map_err(|_| {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "cannot build the history: the worker thread failed")
    })?;
    let nodes: BTreeSet<String> = rows.iter().map(|row| row.record.node_id.clone()).collect();
    let secrets = PlanSecrets::read(session, &stored.record, &nodes).await?;
    let plan = Planned { explained: stored.explained, graph: graph.unwrap_or_default(), secrets };
    Ok(RunHistory { rows, plan: Some(plan) })
}

struct HistoryJoin<'p> {
    explained: &'p ExplainedPlan,
    run: RunId,
    /// Whether the run has ended, so that no more records will be written.
    has_ended: bool,
}

impl HistoryJoin<'_> {
    fn join(&self, written: Vec<HistoryRecord>, filter: &HistoryFilter) -> Vec<Row> {
        let mut by_instance: HashMap<(String, String), HistoryRecord> = written
            .into_iter()
            .map(|record| ((record.task_name.clone(), record.node_id.clone()), record))
            .collect();
        let mut rows = Vec::new();
        for (task_idx, task) in self.explained.plan.tasks.iter().enumerate() {
            for instance in self.explained.plan.instances_of(task) {
                let written = by_instance.remove(&(instance.task.to_owned(), instance.node.to_owned()));
                let mut record = written.unwrap_or_else(|| self.as_planned(&instance));
                if instance.node == SYNC {
                    NO_NODE.clone_into(&mut record.node_id);
                }
                if passes(filter, &record) {
                    let position = Some(PlanPosition { task_idx, instance: Some(instance.idx) });
                    rows.push(Row { record, position });
                }
            }
            if task.nodes.is_empty() {
                let record = self.empty(&task.name, NO_NODE, HistoryStatus::Skipped);
                if passes(filter, &record) {
                    rows.push(Row { record, position: Some(PlanPosition { task_idx, instance: None }) });
                }
            }
        }
        let unplanned = by_instance.into_values().filter(|record| passes(filter, record));
        rows.extend(unplanned.map(|record| Row { record, position: None }));
        rows.sort_by(|Row { record: a, .. }, Row { record: b, .. }| {
            let key = |record: &HistoryRecord| (record.started_at.is_none(), record.started_at);
            key(a).cmp(&key(b)).then_with(|| (&a.node_id, &a.task_name).cmp(&(&b.node_id, &b.task_name)))
        });
        rows
    }

    /// Derives the record of an instance that has none from the plan.
    fn as_planned(&self, instance: &Instance<'_>) -> HistoryRecord {
        let reason = match instance.verdict.action() {
            InstanceAction::Skip => self.explained.reasons.of(instance.idx).map(ToString::to_string),
            InstanceAction::Run if self.has_ended => Some(self.not_run(instance).to_owned()),
            InstanceAction::Run => return self.empty(instance.task, instance.node, HistoryStatus::Pending),
        };
        let mut row = self.empty(instance.task, instance.node, HistoryStatus::Skipped);
        row.custom.extend(reason.map(|reason| ("reason".to_owned(), Json::from(reason))));
        row
    }

    /// Returns the reason why an instance that the plan runs was not executed.
    fn not_run(&self, instance: &Instance<'_>) -> &'static str {
        let details = self.explained.plan.details(instance.idx);
        let task_type = details.and_then(|details| stoker_tasks::find(&details.task_type));
        if task_type.is_some_and(|task_type| task_type.runs_on == Executor::None) {
            "tasks of this type only structure the graph and run nothing"
        } else {
            "the task was not executed in this run"
        }
    }

    fn empty(&self, task: &str, node: &str, status: HistoryStatus) -> HistoryRecord {
        HistoryRecord {
            run_id: self.run,
            task_name: task.to_owned(),
            node_id: node.to_owned(),
            status,
            started_at: None,
            ended_at: None,
            task: JsonMap::new(),
            custom: JsonMap::new(),
            report: TaskReport::default(),
        }
    }
}

/// Returns the task as the graph defines it. Instances that do not run have no computed fields.
fn definition(graph: &JsonMap, name: &str) -> JsonMap {
    let fields = graph.get(name).and_then(Json::as_object).cloned().unwrap_or_default();
    render(&Task { name: name.to_owned(), fields })
}

fn passes(filter: &HistoryFilter, row: &HistoryRecord) -> bool {
    let matches =
        |list: &Option<Vec<String>>, name: &String| list.as_ref().is_none_or(|names| names.contains(name));
    matches(&filter.nodes, &row.node_id)
        && matches(&filter.task_names, &row.task_name)
        && filter.statuses.as_ref().is_none_or(|statuses| statuses.contains(&row.status))
}

/// Replaces expressions in the task with their computed values, unmasked.
fn with_computed_fields(mut task: JsonMap, details: Option<&Details>) -> JsonMap {
    if let Some(details) = details {
        task.insert("type".to_owned(), Json::from(details.task_type.clone()));
        task.insert("parameters".to_owned(), details.parameters.clone());
        task.insert("fail_on_error".to_owned(), Json::from(details.fail_on_error));
    }
    task
}
