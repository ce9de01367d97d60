//! The history of a run with its plan: what was run is known from the plan, and what nothing was written about is as the
//! plan says.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::http::StatusCode;
use stoker_engine::blueprint::RunsOn;
use stoker_manifest::task::render;
use stoker_model::{HistoryRecord, HistoryStatus, Json, JsonMap, PlanId, RunId, RunStatus, Task};
use stoker_planner::state::SYNC;
use stoker_planner::{Action, Details, ExplainedPlan, Instance};
use stoker_store::{HistoryFilter, Session};
use stoker_services::planning::{PlanSecrets, StoredPlan};

use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// A task that is on no node.
const NOWHERE: &str = "-";
/// Tasks kept as they are shown. Instances of a task mostly come together, and most of them are alike.
const SHOWN_MAX: usize = 256;

/// The history of a run. Tasks are not in its records: most of them are alike, and a fleet has a million of them. They are
/// put together as they are shown.
pub(super) struct Whole {
    rows: Vec<Row>,
    plan: Option<Planned>,
}

struct Row {
    record: HistoryRecord,
    place: Option<Place>,
}

/// Where in the plan the task of a row is.
#[derive(Clone, Copy)]
struct Place {
    task_idx: usize,
    instance: Option<u32>,
}

struct Planned {
    explained: Arc<ExplainedPlan>,
    /// Fields by task, as the plan was made from them.
    graph: JsonMap,
    secrets: PlanSecrets,
}

impl Whole {
    /// What was written about a run that has no plan.
    pub(super) fn written(records: Vec<HistoryRecord>) -> Self {
        let row = |record| Row { record, place: None };
        Self { rows: records.into_iter().map(row).collect(), plan: None }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Every record with its task, in their order.
    pub(super) fn into_records(self) -> impl Iterator<Item = HistoryRecord> {
        let Self { rows, plan } = self;
        let mut shown: HashMap<(usize, usize), JsonMap> = HashMap::new();
        rows.into_iter().map(move |Row { mut record, place }| {
            if let (Some(place), Some(plan)) = (place, &plan) {
                record.task = plan.task(place, &record.node_id, &mut shown);
            }
            record
        })
    }
}

impl Planned {
    /// A task as it can be shown.
    fn task(&self, place: Place, node: &str, shown: &mut HashMap<(usize, usize), JsonMap>) -> JsonMap {
        let details = place.instance.and_then(|instance| self.explained.plan.details(instance));
        let name = &self.explained.plan.tasks[place.task_idx].name;
        if self.secrets.has_own(node) {
            return self.masked(node, as_run(definition(&self.graph, name), details));
        }
        let key = (place.task_idx, details.map_or(0, |details| std::ptr::from_ref(details).addr()));
        if let Some(known) = shown.get(&key) {
            return known.clone();
        }
        let task = self.masked(node, as_run(definition(&self.graph, name), details));
        if shown.len() >= SHOWN_MAX {
            shown.clear();
        }
        shown.insert(key, task.clone());
        task
    }

    /// As one value: a field of the user's own may be a secret by its name.
    fn masked(&self, node: &str, task: JsonMap) -> JsonMap {
        let mut task = Json::Object(task);
        self.secrets.mask(node, &mut task);
        match task {
            Json::Object(task) => task,
            _ => JsonMap::new(),
        }
    }
}

/// Every instance of the plan that passes the filter, in the order of history: by start (what did not start comes last),
/// node and name.
pub(super) async fn whole(
    app: &App,
    session: &mut Session,
    run: RunId,
    plan: PlanId,
    filter: &HistoryFilter,
) -> ApiResult<Whole> {
    let Some(record) = session.plan_get(plan).await? else {
        return Ok(Whole::written(session.history_list(&[run], filter).await?));
    };
    // Not filtered by status: an instance that is left out would be taken for one that nothing was written about.
    let nodes = filter.nodes.clone().filter(|nodes| !nodes.iter().any(|node| node == NOWHERE));
    let placed = HistoryFilter { nodes, statuses: None, task_names: filter.task_names.clone() };
    let written = session.history_list(&[run], &placed).await?;
    let has_ended = session
        .run_get(run)
        .await?
        .is_none_or(|run| !matches!(run.status, RunStatus::Pending | RunStatus::Running));
    let stored = StoredPlan::read(&app.services.planning, session, record).await?;
    let graph = session.documents_get(&[stored.record.graph_id]).await?.into_values().next();
    let (explained, filter) = (Arc::clone(&stored.explained), filter.clone());
    // A fleet has so many instances that others would wait for them.
    let joined = tokio::task::spawn_blocking(move || {
        Joining { explained: &explained, run, has_ended }.joined(written, &filter)
    });
    let rows =
        joined.await.map_err(|_| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "the history was lost"))?;
    let nodes: BTreeSet<String> = rows.iter().map(|row| row.record.node_id.clone()).collect();
    let secrets = PlanSecrets::read(session, &stored.record, &nodes).await?;
    let plan = Planned { explained: stored.explained, graph: graph.unwrap_or_default(), secrets };
    Ok(Whole { rows, plan: Some(plan) })
}

struct Joining<'p> {
    explained: &'p ExplainedPlan,
    run: RunId,
    /// Nothing more will be written.
    has_ended: bool,
}

impl Joining<'_> {
    fn joined(&self, written: Vec<HistoryRecord>, filter: &HistoryFilter) -> Vec<Row> {
        let mut by_instance: HashMap<(String, String), HistoryRecord> = written
            .into_iter()
            .map(|record| ((record.task_name.clone(), record.node_id.clone()), record))
            .collect();
        let mut all = Vec::new();
        for (task_idx, task) in self.explained.plan.tasks.iter().enumerate() {
            for instance in self.explained.plan.instances_of(task) {
                let written = by_instance.remove(&(instance.task.to_owned(), instance.node.to_owned()));
                let mut record = written.unwrap_or_else(|| self.as_planned(&instance));
                if instance.node == SYNC {
                    NOWHERE.clone_into(&mut record.node_id);
                }
                if passes(filter, &record) {
                    let place = Some(Place { task_idx, instance: Some(instance.idx) });
                    all.push(Row { record, place });
                }
            }
            if task.nodes.is_empty() {
                let record = self.empty(&task.name, NOWHERE, HistoryStatus::Skipped);
                if passes(filter, &record) {
                    all.push(Row { record, place: Some(Place { task_idx, instance: None }) });
                }
            }
        }
        let unplanned = by_instance.into_values().filter(|record| passes(filter, record));
        all.extend(unplanned.map(|record| Row { record, place: None }));
        all.sort_by(|Row { record: a, .. }, Row { record: b, .. }| {
            let key = |record: &HistoryRecord| (record.started_at.is_none(), record.started_at);
            key(a).cmp(&key(b)).then_with(|| (&a.node_id, &a.task_name).cmp(&(&b.node_id, &b.task_name)))
        });
        all
    }

    /// An instance that nothing was written about.
    fn as_planned(&self, instance: &Instance<'_>) -> HistoryRecord {
        let reason = match instance.verdict.action() {
            Action::Skip => self.explained.reasons.of(instance.idx).map(ToString::to_string),
            Action::Run if self.has_ended => Some(self.not_run(instance).to_owned()),
            Action::Run => return self.empty(instance.task, instance.node, HistoryStatus::Pending),
        };
        let mut row = self.empty(instance.task, instance.node, HistoryStatus::Skipped);
        row.custom.extend(reason.map(|reason| ("reason".to_owned(), Json::from(reason))));
        row
    }

    /// Why an instance was not run although its plan says so.
    fn not_run(&self, instance: &Instance<'_>) -> &'static str {
        let details = self.explained.plan.details(instance.idx);
        let task_type = details.and_then(|details| stoker_tasks::find(&details.task_type));
        if task_type.is_some_and(|task_type| task_type.runs_on == RunsOn::Nowhere) {
            "it only gives the graph its shape; there is nothing to carry out"
        } else {
            "it was not carried out in this run"
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
            summary: JsonMap::new(),
        }
    }
}

/// The task as the plan found it: what is not run has nothing else to show.
fn definition(graph: &JsonMap, name: &str) -> JsonMap {
    let fields = graph.get(name).and_then(Json::as_object).cloned().unwrap_or_default();
    render(&Task { name: name.to_owned(), fields })
}

fn passes(filter: &HistoryFilter, row: &HistoryRecord) -> bool {
    let wants =
        |list: &Option<Vec<String>>, name: &String| list.as_ref().is_none_or(|names| names.contains(name));
    wants(&filter.nodes, &row.node_id)
        && wants(&filter.task_names, &row.task_name)
        && filter.statuses.as_ref().is_none_or(|statuses| statuses.contains(&row.status))
}

/// The task with what was computed of it in place of how that was written; secrets included.
fn as_run(mut task: JsonMap, details: Option<&Details>) -> JsonMap {
    if let Some(details) = details {
        task.insert("type".to_owned(), Json::from(details.task_type.clone()));
        task.insert("parameters".to_owned(), details.parameters.clone());
        task.insert("fail_on_error".to_owned(), Json::from(details.fail_on_error));
    }
    task
}
