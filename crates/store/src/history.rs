//! Execution history: the outcome of each task on each node.

use std::collections::HashMap;

use stoker_model::{ClusterId, GraphType, HistoryRecord, HistoryStatus, RunId, TaskReport};

use crate::sql::{Args, Bulk, Record as _, Values, read_pairs, record};
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "run_history";
const REPLACE: &str = "ON CONFLICT (run_id, task_name, node_id) DO UPDATE SET status = excluded.status, \
     started_at = excluded.started_at, ended_at = excluded.ended_at, task = excluded.task, \
     custom = excluded.custom, summary = excluded.summary, \
     changed = excluded.changed, diff = excluded.diff";

record! {
    HistoryRecord in "run_history", "history record" {
        run_id, task_name [key], node_id [key], status, started_at, ended_at, task, custom,
        report: TaskReport,
    }
}

record! {
    TaskReport { summary, changed, diff }
}

/// Filter for history records; a field that is `None` matches all records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    pub nodes: Option<Vec<String>>,
    pub statuses: Option<Vec<HistoryStatus>>,
    pub task_names: Option<Vec<String>>,
}

impl Session {
    /// Records ordered by run, start time (records that never started last), node and task name.
    pub async fn history_list(
        &mut self,
        runs: &[RunId],
        filter: &HistoryFilter,
    ) -> Result<Vec<HistoryRecord>, StoreError> {
        let mut select = self.select().and_ids("run_id", runs.iter().map(|id| id.0));
        if let Some(nodes) = &filter.nodes {
            select = select.and_texts("node_id", nodes.iter().map(String::as_str));
        }
        if let Some(statuses) = &filter.statuses {
            select = select.and_texts("status", statuses.iter().map(|status| status.as_str()));
        }
        if let Some(names) = &filter.task_names {
            select = select.and_texts("task_name", names.iter().map(String::as_str));
        }
        let (condition, args) = select.finish();
        let sql = format!(
            "{}{condition} ORDER BY run_id, started_at ASC NULLS LAST, node_id, task_name",
            HistoryRecord::table().select_sql()
        );
        self.read_all(sql, args).await
    }
}

/// What ended task instances did to their hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    pub changed: u64,
    pub unchanged: u64,
    /// Instances of task types that cannot tell, and those that failed before they could.
    pub unknown: u64,
}

impl Session {
    /// Counts the effects of a run and of its child runs. Instances that were skipped have none.
    pub async fn history_effects(&mut self, run: RunId) -> Result<Effects, StoreError> {
        let sql = format!(
            "SELECT CASE WHEN changed IS NULL THEN 'unknown' WHEN changed THEN 'changed' ELSE 'unchanged' END AS effect, \
             count(*) AS n_instances FROM {TABLE} WHERE run_id IN \
             (SELECT id FROM runs WHERE id = $1 OR parent_id = $2) AND ended_at IS NOT NULL AND status <> $3 GROUP BY 1"
        );
        let args = Args::new().int(run.0).int(run.0).text(HistoryStatus::Skipped.as_str());
        let rows = self.connection.fetch_all(sql, args).await?;
        let counts: Vec<(String, i64)> = read_pairs(&rows, TABLE, ["effect", "n_instances"])?;
        let count = |effect: &str| {
            let row = counts.iter().find(|(name, _)| name == effect);
            row.and_then(|(_, count)| u64::try_from(*count).ok()).unwrap_or_default()
        };
        Ok(Effects { changed: count("changed"), unchanged: count("unchanged"), unknown: count("unknown") })
    }
}

/// Number of recent runs that [`Session::task_durations`] averages over. Older runs are not representative of
/// the current tasks.
const RUNS_MEASURED: i64 = 10;

impl Session {
    /// Returns the average duration in milliseconds of each task over its successes in the last runs of a
    /// cluster. Dry runs are not included.
    pub async fn task_durations(
        &mut self,
        cluster_id: ClusterId,
        graph_type: &GraphType,
    ) -> Result<HashMap<String, u64>, StoreError> {
        let sql = format!(
            "SELECT task_name, CAST(avg(ended_at - started_at) AS BIGINT) AS duration FROM {TABLE} WHERE status = $1 \
             AND started_at IS NOT NULL AND ended_at IS NOT NULL AND run_id IN \
             (SELECT id FROM runs WHERE cluster_id = $2 AND dry_run = $3 AND graph_type = $4 \
             ORDER BY id DESC LIMIT {RUNS_MEASURED}) GROUP BY task_name"
        );
        let args = Args::new().text(HistoryStatus::Ready.as_str()).int(cluster_id.0).bool(false);
        let args = args.text(graph_type.as_str());
        let rows = self.connection.fetch_all(sql, args).await?;
        let micros: Vec<(String, i64)> = read_pairs(&rows, TABLE, ["task_name", "duration"])?;
        let millis = |micros: i64| u64::try_from(micros / 1000).unwrap_or_default();
        Ok(micros.into_iter().map(|(task_name, micros)| (task_name, millis(micros))).collect())
    }
}

impl WriteTransaction {
    /// Upserts records by run, task and node. Within one call the last record of a key wins.
    pub async fn history_put(&mut self, records: &[HistoryRecord]) -> Result<(), StoreError> {
        let mut last = last_indices(records);
        last.sort_unstable();
        let bulk = Bulk::of(&Values::new(), last.into_iter().map(|index| &records[index]));
        self.connection.insert_many(TABLE, bulk, REPLACE).await?;
        Ok(())
    }
}

/// Returns the index of the last record for each key. PostgreSQL rejects an upsert that writes one row twice.
fn last_indices(records: &[HistoryRecord]) -> Vec<usize> {
    let mut last = std::collections::HashMap::new();
    for (index, record) in records.iter().enumerate() {
        last.insert((record.run_id, record.task_name.as_str(), record.node_id.as_str()), index);
    }
    last.into_values().collect()
}
