//! Drift: checks of nodes, and the latest result for each task on each node.
//!
//! A result is valid as long as the applied state with which the node was compared is the current one, so a run needs no
//! statement to invalidate results.

use stoker_model::{
    Actor, AppliedInstances, Cluster, ClusterId, DriftCheck, DriftCheckId, DriftCounts, DriftResult,
    DriftStatus, GraphType, Micros,
};

use crate::sql::{Args, Bulk, Select, Values, record};
use crate::{List, Page, Session, Store, StoreError, WriteTransaction};

const CHECKS: &str = "drift_checks";
const RESULTS: &str = "drift_results";
/// Checks of a cluster that are retained.
const CHECKS_MAX: i64 = 100;
/// A result that is unknown does not end the repair of a drift that an earlier check found.
const REPLACE: &str = "ON CONFLICT (cluster_id, graph_type, node_uid, task_name) DO UPDATE SET \
     repairs = CASE WHEN excluded.status = 'unknown' AND drift_results.run_id = excluded.run_id \
     THEN drift_results.repairs ELSE excluded.repairs END, run_id = excluded.run_id, checked_at = excluded.checked_at, \
     status = excluded.status, message = excluded.message, diff = excluded.diff";
const IS_VALID: &str = "EXISTS (SELECT 1 FROM applied_states a WHERE a.cluster_id = drift_results.cluster_id \
     AND a.graph_type = drift_results.graph_type AND a.node_uid = drift_results.node_uid \
     AND a.task_name = drift_results.task_name AND a.run_id = drift_results.run_id AND a.tainted_by IS NULL)";

record! {
    DriftCheck in "drift_checks", "drift check" {
        id [auto sort],
        cluster_id,
        graph_type,
        created_by,
        started_at [sort],
        alive_until,
        ended_at [sort],
        problem,
        n_in_sync,
        n_changed,
        n_drifted,
        n_unknown,
    }
}

record! {
    DriftResult in "drift_results", "drift result" {
        node_uid [key sort],
        task_name [key sort],
        run_id,
        checked_at [sort],
        status [sort],
        repairs,
        message,
        diff,
    }
}

record! {
    AppliedInstances in "applied_states", "applied state" { task_name, inputs, run_id, nodes }
}

/// Selects results; an empty filter selects all.
#[derive(Clone, Debug, Default)]
pub struct DriftFilter {
    pub graph_type: Option<GraphType>,
    pub nodes: Option<Vec<String>>,
    pub tasks: Option<Vec<String>>,
    pub statuses: Option<Vec<DriftStatus>>,
}

impl Session {
    pub async fn drift_check_get(&mut self, id: DriftCheckId) -> Result<Option<DriftCheck>, StoreError> {
        self.get(id.0).await
    }

    /// Lists the checks of a cluster, newest first.
    pub async fn drift_check_list(
        &mut self,
        cluster: ClusterId,
        list: &List,
    ) -> Result<Page<DriftCheck>, StoreError> {
        let select = self.select().and_int("cluster_id = ?", Some(cluster.0));
        self.list_by("id DESC", select, list).await
    }

    /// Returns the check of a cluster that is running at `now`.
    pub async fn drift_check_running(
        &mut self,
        cluster: ClusterId,
        now: Micros,
    ) -> Result<Option<DriftCheck>, StoreError> {
        let args = Args::new().int(cluster.0).int(now.0);
        self.get_where("cluster_id = $1 AND ended_at IS NULL AND alive_until > $2", args).await
    }

    /// Lists the valid results of a cluster.
    pub async fn drift_list(
        &mut self,
        cluster: ClusterId,
        filter: &DriftFilter,
        list: &List,
    ) -> Result<Page<DriftResult>, StoreError> {
        let mut select = self.valid_results(cluster);
        if let Some(graph_type) = &filter.graph_type {
            select = select.and("graph_type = ?", |args| args.key(graph_type.as_str()));
        }
        if let Some(nodes) = &filter.nodes {
            select = select.and_texts("node_uid", nodes.iter().map(String::as_str));
        }
        if let Some(tasks) = &filter.tasks {
            select = select.and_texts("task_name", tasks.iter().map(String::as_str));
        }
        if let Some(statuses) = &filter.statuses {
            select = select.and_texts("status", statuses.iter().map(|status| status.as_str()));
        }
        self.list_by("task_name, node_uid", select, list).await
    }

    /// Returns the tasks and nodes whose drift plans repair, with the run that applied the state. A result that is not
    /// unknown is the latest knowledge.
    pub async fn drift_repairs(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
    ) -> Result<Vec<DriftResult>, StoreError> {
        let select = self.valid_results(cluster).and("graph_type = ?", |args| args.key(graph_type.as_str()));
        let select = select.and("repairs = ?", |args| args.bool(true));
        Ok(self.list_by("task_name, node_uid", select, &List::default()).await?.items)
    }

    /// Instances to compare with their nodes: their task succeeded there, and no attempt since put it in doubt.
    pub async fn applied_instances(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
    ) -> Result<Vec<AppliedInstances>, StoreError> {
        let sql = format!(
            "SELECT task_name, inputs, run_id, {} AS nodes FROM applied_states WHERE cluster_id = $1 AND graph_type = $2 \
             AND snapshot_id IS NOT NULL AND run_id IS NOT NULL AND tainted_by IS NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            self.name_list("node_uid")
        );
        let args = Args::new().int(cluster.0).key(graph_type.as_str());
        let mut instances: Vec<AppliedInstances> = self.read_all(sql, args).await?;
        for instances in &mut instances {
            instances.nodes.sort_unstable();
        }
        Ok(instances)
    }

    fn valid_results(&self, cluster: ClusterId) -> Select {
        let condition = format!("{IS_VALID} AND cluster_id = ?");
        self.select().and_int(&condition, Some(cluster.0))
    }
}

impl Store {
    /// [`WriteTransaction::drift_put`] in a transaction of its own, which also extends the check.
    pub async fn drift_record(
        &self,
        check: &DriftCheck,
        results: &[DriftResult],
        alive_until: Micros,
        now: Micros,
    ) -> Result<(), StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        writing.drift_put(check.cluster_id, &check.graph_type, results).await?;
        writing.drift_check_extend(check.id, alive_until).await?;
        writing.commit_unaudited().await
    }

    /// [`WriteTransaction::drift_check_end`] in a transaction of its own.
    pub async fn drift_check_finish(
        &self,
        check: &DriftCheck,
        counts: DriftCounts,
        problem: Option<&str>,
        now: Micros,
    ) -> Result<(), StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        writing.drift_check_end(check, counts, problem).await?;
        writing.commit_unaudited().await
    }
}

impl WriteTransaction {
    /// Creates a running check, and deletes the oldest checks of the cluster.
    pub async fn drift_check_create(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
        alive_until: Micros,
    ) -> Result<DriftCheck, StoreError> {
        self.require::<Cluster>(cluster.0).await?;
        let mut check = DriftCheck {
            id: DriftCheckId(0),
            cluster_id: cluster,
            graph_type: graph_type.clone(),
            created_by: self.actor().user_name.clone(),
            started_at: self.now(),
            alive_until,
            ended_at: None,
            problem: None,
            n_in_sync: 0,
            n_changed: 0,
            n_drifted: 0,
            n_unknown: 0,
        };
        let row = self.connection.insert_returning(CHECKS, Values::of(&check), "RETURNING id").await?;
        let row = row.ok_or(StoreError::NotFound { what: "cluster" })?;
        check.id = row.get(CHECKS, "id")?;
        let sql = format!(
            "DELETE FROM {CHECKS} WHERE cluster_id = $1 AND id NOT IN \
             (SELECT id FROM {CHECKS} WHERE cluster_id = $1 ORDER BY id DESC LIMIT {CHECKS_MAX})"
        );
        self.connection.execute(sql, Args::new().int(cluster.0)).await?;
        Ok(check)
    }

    /// Extends the time until which a check is alive.
    pub async fn drift_check_extend(
        &mut self,
        id: DriftCheckId,
        alive_until: Micros,
    ) -> Result<(), StoreError> {
        let sql = format!("UPDATE {CHECKS} SET alive_until = $1 WHERE id = $2");
        self.connection.execute(sql, Args::new().int(alive_until.0).int(id.0)).await?;
        Ok(())
    }

    /// Ends a check, and deletes results of the cluster that are no longer valid.
    pub async fn drift_check_end(
        &mut self,
        check: &DriftCheck,
        counts: DriftCounts,
        problem: Option<&str>,
    ) -> Result<(), StoreError> {
        let values = Values::new()
            .set("ended_at", &self.now())
            .set("problem", &problem.map(str::to_owned))
            .set("n_in_sync", &counts.n_in_sync)
            .set("n_changed", &counts.n_changed)
            .set("n_drifted", &counts.n_drifted)
            .set("n_unknown", &counts.n_unknown);
        let (sql, args) = values.update(CHECKS, "", "id = ?", Args::new().int(check.id.0));
        self.connection.execute(sql, args).await?;
        let sql = format!("DELETE FROM {RESULTS} WHERE cluster_id = $1 AND NOT {IS_VALID}");
        self.connection.execute(sql, Args::new().int(check.cluster_id.0)).await?;
        Ok(())
    }

    /// Stores the latest results for tasks on nodes.
    pub async fn drift_put(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
        results: &[DriftResult],
    ) -> Result<(), StoreError> {
        let shared = Values::new().set("cluster_id", &cluster).key("graph_type", graph_type.as_str());
        self.connection.insert_many(RESULTS, Bulk::of(&shared, results), REPLACE).await?;
        Ok(())
    }
}
