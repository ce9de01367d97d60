//! The history of a run with its plan: what was run is known from the plan, and what nothing was written about is as the
//! plan says.

use std::collections::HashMap;

use stoker_engine::blueprint::RunsOn;
use stoker_model::{HistoryRecord, HistoryStatus, Json, JsonMap, PlanId, RunId, RunStatus};
use stoker_planner::state::SYNC;
use stoker_planner::{Action, ExplainedPlan, Instance};
use stoker_state::Secrets;
use stoker_store::{HistoryFilter, Session};

use crate::http::error::ApiResult;
use crate::planning::{StoredPlan, secrets_of};
use crate::state::App;

/// A task that is on no node.
const NOWHERE: &str = "-";

/// Every instance of the plan that passes the filter, in the order of history: by start (what did not start comes last),
/// node and name.
pub(super) async fn whole(
    app: &App,
    session: &mut Session,
    run: RunId,
    plan: PlanId,
    filter: &HistoryFilter,
) -> ApiResult<Vec<HistoryRecord>> {
    let Some(record) = session.plan_get(plan).await? else {
        return Ok(session.history_list(&[run], filter).await?);
    };
    // Not filtered by status: an instance that is left out would be taken for one that nothing was written about.
    let nodes = filter.nodes.clone().filter(|nodes| !nodes.iter().any(|node| node == NOWHERE));
    let placed = HistoryFilter { nodes, statuses: None, task_names: filter.task_names.clone() };
    let written = session.history_list(&[run], &placed).await?;
    let has_ended = session
        .run_get(run)
        .await?
        .is_none_or(|run| !matches!(run.status, RunStatus::Pending | RunStatus::Running));
    let secrets = secrets_of(session, record.common_id).await?;
    let stored = StoredPlan::read(app, session, record).await?;
    let mut all = Joining { explained: &stored.explained, run, has_ended }.joined(written, filter, &secrets);
    all.sort_by(|a, b| {
        let key = |record: &HistoryRecord| (record.started_at.is_none(), record.started_at);
        key(a).cmp(&key(b)).then_with(|| (&a.node_id, &a.task_name).cmp(&(&b.node_id, &b.task_name)))
    });
    Ok(all)
}

struct Joining<'p> {
    explained: &'p ExplainedPlan,
    run: RunId,
    /// Nothing more will be written.
    has_ended: bool,
}

impl Joining<'_> {
    fn joined(
        &self,
        written: Vec<HistoryRecord>,
        filter: &HistoryFilter,
        secrets: &Secrets,
    ) -> Vec<HistoryRecord> {
        let mut by_instance: HashMap<(String, String), HistoryRecord> = written
            .into_iter()
            .map(|record| ((record.task_name.clone(), record.node_id.clone()), record))
            .collect();
        let mut all = Vec::new();
        for instance in self.explained.plan.instances() {
            let written = by_instance.remove(&(instance.task.to_owned(), instance.node.to_owned()));
            let mut record = written.unwrap_or_else(|| self.as_planned(&instance));
            if instance.node == SYNC {
                NOWHERE.clone_into(&mut record.node_id);
            }
            if passes(filter, &record) {
                record.task = task(self.explained, &instance, secrets);
                all.push(record);
            }
        }
        let unplaced = self.explained.plan.tasks.iter().filter(|task| task.nodes.is_empty());
        let unplaced = unplaced.map(|task| self.empty(&task.name, NOWHERE, HistoryStatus::Skipped));
        all.extend(unplaced.chain(by_instance.into_values()).filter(|row| passes(filter, row)));
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

fn passes(filter: &HistoryFilter, row: &HistoryRecord) -> bool {
    let wants =
        |list: &Option<Vec<String>>, name: &String| list.as_ref().is_none_or(|names| names.contains(name));
    wants(&filter.nodes, &row.node_id)
        && wants(&filter.task_names, &row.task_name)
        && filter.statuses.as_ref().is_none_or(|statuses| statuses.contains(&row.status))
}

/// The task as it was run.
fn task(explained: &ExplainedPlan, instance: &Instance<'_>, secrets: &Secrets) -> JsonMap {
    let Some(details) = explained.plan.details(instance.idx) else { return JsonMap::new() };
    let mut parameters = details.parameters.clone();
    secrets.mask(&mut parameters);
    JsonMap::from_iter([
        ("type".to_owned(), Json::from(details.task_type.clone())),
        ("parameters".to_owned(), parameters),
        ("fail_on_error".to_owned(), Json::from(details.fail_on_error)),
    ])
}
