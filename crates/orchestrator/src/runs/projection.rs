//! Projects the events of a run to its history, one row per task instance.
//!
//! Instances that were dispatched, or that ended without being dispatched, get a row; instances that the plan
//! skips do not.

use std::collections::BTreeMap;

use serde_json::json;
use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::{
    AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, NotStarted, Resolution,
};
use stoker_engine::session::ResultKind;
use stoker_model::{HistoryRecord, HistoryStatus, InstanceIdx, Json, JsonMap, Micros, RunId, TaskReport};

/// Field of a history row that refines the status: `blocked`, `stopped` or `interrupted`.
pub const OUTCOME: &str = "outcome";

/// A dispatched instance that has not ended.
#[derive(Clone, Copy, Default)]
struct Open {
    started_at: Option<Micros>,
    attempt: u32,
}

pub(super) struct Projection {
    run: RunId,
    open: BTreeMap<InstanceIdx, Open>,
}

impl Projection {
    pub(super) fn new(run: RunId) -> Self {
        Self { run, open: BTreeMap::new() }
    }

    /// Applies an event and returns the changed rows.
    pub(super) fn apply(&mut self, blueprint: &Blueprint, event: &EngineEvent) -> Vec<HistoryRecord> {
        match &event.kind {
            EventKind::Dispatched { instance, attempt } => {
                let open = self.open.entry(*instance).or_default();
                open.started_at.get_or_insert(event.at);
                open.attempt = *attempt;
                let open = *open;
                self.row(blueprint, *instance, HistoryStatus::Running, open).into_iter().collect()
            }
            EventKind::AttemptEnded { instance, end, report, next, .. } => {
                let open = self.open.get(instance).copied().unwrap_or_default();
                let row = match next {
                    Next::Retry { .. } => self.row(blueprint, *instance, HistoryStatus::Running, open),
                    Next::Final(outcome) => self
                        .ended(blueprint, *instance, *outcome, event.at, end.message())
                        .map(|row| with_outcome(row, outcome_word(end))),
                };
                row.map(|row| HistoryRecord { report: report.clone(), ..row }).into_iter().collect()
            }
            EventKind::Resolved { ends } => ends
                .iter()
                .filter_map(|(instance, how)| self.resolved(blueprint, *instance, *how, event.at))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Row of an instance that ended without a further attempt.
    fn resolved(
        &mut self,
        blueprint: &Blueprint,
        instance: InstanceIdx,
        how: Resolution,
        at: Micros,
    ) -> Option<HistoryRecord> {
        let outcome = match how {
            Resolution::Skipped => None,
            Resolution::NotStarted(NotStarted::Stopped) => Some("stopped"),
            _ => Some("blocked"),
        };
        let reason = match how {
            // The plan has the reason.
            Resolution::Skipped if blueprint.executor_of(instance).is_none() => return None,
            Resolution::Skipped => "none of its triggers changed anything".to_owned(),
            Resolution::Blocked { by } => format!("{} did not succeed", blueprint.name(by)),
            Resolution::NotStarted(NotStarted::NodeFailed { by }) => {
                format!("{} failed, and its node runs no further tasks", blueprint.name(by))
            }
            Resolution::NotStarted(NotStarted::NodeLost { node }) => {
                format!("node {} was out of contact for too long", blueprint.node(node).unwrap_or("?"))
            }
            Resolution::NotStarted(NotStarted::Stopped) => {
                "the run was stopped before this task started".to_owned()
            }
            Resolution::NotRetried(outcome) => {
                let reason = "it was not tried again: the run was stopped or its node given up".to_owned();
                return self.ended(blueprint, instance, outcome, at, Some(reason));
            }
        };
        let mut row = self.row(blueprint, instance, HistoryStatus::Skipped, Open::default())?;
        row.ended_at = Some(at);
        row.custom.insert("reason".to_owned(), Json::from(reason));
        Some(with_outcome(row, outcome))
    }

    /// Row of an instance that was dispatched and has ended.
    fn ended(
        &mut self,
        blueprint: &Blueprint,
        instance: InstanceIdx,
        outcome: InstanceOutcome,
        at: Micros,
        reason: Option<String>,
    ) -> Option<HistoryRecord> {
        let status = match outcome {
            InstanceOutcome::Succeeded => HistoryStatus::Ready,
            InstanceOutcome::Failed | InstanceOutcome::Ignored | InstanceOutcome::Cancelled => {
                HistoryStatus::Error
            }
        };
        let open = self.open.remove(&instance).unwrap_or_default();
        let mut row = self.row(blueprint, instance, status, open)?;
        row.ended_at = Some(at);
        if let Some(reason) = reason {
            row.custom.insert("reason".to_owned(), Json::from(reason));
        }
        if outcome == InstanceOutcome::Ignored {
            row.custom.insert("is_ignored".to_owned(), json!(true));
        }
        Some(row)
    }

    fn row(
        &self,
        blueprint: &Blueprint,
        instance: InstanceIdx,
        status: HistoryStatus,
        open: Open,
    ) -> Option<HistoryRecord> {
        let (task, node) = blueprint.names(instance)?;
        let mut custom = JsonMap::new();
        custom.insert("instance".to_owned(), json!(instance.get()));
        if open.attempt > 0 {
            custom.insert("attempts".to_owned(), json!(open.attempt));
        }
        Some(HistoryRecord {
            run_id: self.run,
            task_name: task.to_owned(),
            node_id: node.to_owned(),
            status,
            started_at: open.started_at,
            ended_at: None,
            // Stored with the plan.
            task: JsonMap::new(),
            custom,
            report: TaskReport::default(),
        })
    }
}

fn with_outcome(mut row: HistoryRecord, outcome: Option<&str>) -> HistoryRecord {
    row.custom.extend(outcome.map(|word| (OUTCOME.to_owned(), Json::from(word))));
    row
}

fn outcome_word(end: &AttemptOutcome) -> Option<&'static str> {
    match end {
        AttemptOutcome::Reported(ResultKind::Cancelled) => Some("stopped"),
        AttemptOutcome::Reported(ResultKind::Interrupted)
        | AttemptOutcome::Lost
        | AttemptOutcome::NoResult => Some("interrupted"),
        AttemptOutcome::Reported(_) => None,
    }
}
