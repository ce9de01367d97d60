//! Applied states: with which documents each task last succeeded on each node, per graph type, and which attempts
//! have not succeeded since.
//!
//! An attempt is marked before it is sent, and a success only updates a row that its own run marked. A server that
//! crashes therefore leaves the mark, and a success that arrives after the rows of a node were invalidated records
//! nothing.

use std::collections::BTreeMap;

use stoker_model::{
    Actor, AgentMachine, AgentUid, AppliedGroup, AppliedInputs, AppliedMark, AppliedSuccess, Cluster,
    ClusterId, DocumentId, GraphType, Micros, NodeId, RunId, RunStatus, SnapshotId, TaintCause,
};

use crate::sql::{Args, Dialect, Values, read_pairs, record};
use crate::{Session, Store, StoreError, WriteTransaction};

const TABLE: &str = "applied_states";
const MACHINES: &str = "agent_machines";
const MARK: &str = "ON CONFLICT (cluster_id, graph_type, node_uid, task_name) DO UPDATE SET \
     tainted_by = excluded.tainted_by, taint = excluded.taint";
const SUCCEED: &str = "UPDATE applied_states SET snapshot_id = updates.snapshot_id, document_id = updates.document_id, \
     inputs = updates.inputs, inputs_id = updates.inputs_id, run_id = updates.run_id, tainted_by = NULL, taint = NULL \
     FROM updates WHERE applied_states.cluster_id = updates.cluster_id \
     AND applied_states.graph_type = updates.graph_type AND applied_states.node_uid = updates.node_uid \
     AND applied_states.task_name = updates.task_name AND applied_states.tainted_by = updates.run_id \
     RETURNING applied_states.task_name";
const MARK_LATE: &str = "UPDATE applied_states SET tainted_by = updates.run_id, taint = updates.taint FROM updates \
     WHERE applied_states.cluster_id = updates.cluster_id AND applied_states.graph_type = updates.graph_type \
     AND applied_states.node_uid = updates.node_uid AND applied_states.task_name = updates.task_name \
     AND (applied_states.run_id >= updates.run_id OR applied_states.tainted_by IS NOT NULL) \
     RETURNING applied_states.task_name";

record! {
    AppliedGroup in "applied_states", "applied state" {
        node_uid, snapshot_id, document_id, tainted_by, taint, tasks
    }
}

record! {
    AppliedInputs in "applied_states", "applied state" { task_name, inputs, inputs_id, nodes }
}

record! {
    AgentMachine in "agent_machines", "machine of an agent" { uid [key], journal_id, machine_id }
}

/// Rows that an invalidation deletes.
#[derive(Clone, Copy, Debug)]
pub enum AppliedScope<'a> {
    Everywhere,
    InCluster(ClusterId),
    /// All graph types of a cluster but one.
    OtherGraphs(ClusterId, &'a GraphType),
}

impl Session {
    /// Applied states of tasks on nodes, grouped by equal state and taint: there are many tasks and nodes, but
    /// few distinct states.
    pub async fn applied_groups(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
        tasks: &[&str],
        nodes: &[&str],
    ) -> Result<Vec<AppliedGroup>, StoreError> {
        let select = self.select().and_int("a.cluster_id = ?", Some(cluster.0));
        let select = select.and("a.graph_type = ?", |args| args.key(graph_type.as_str()));
        let select = select.and_texts("a.task_name", tasks.iter().copied());
        let (condition, args) = select.and_texts("a.node_uid", nodes.iter().copied()).finish();
        let sql = format!(
            "SELECT a.node_uid, a.snapshot_id, a.document_id, coalesce(r.parent_id, a.tainted_by) AS tainted_by, \
             a.taint, {} AS tasks FROM {TABLE} a LEFT JOIN runs r ON r.id = a.tainted_by{condition} \
             GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5",
            self.name_list("a.task_name")
        );
        let mut groups: Vec<AppliedGroup> = self.read_all(sql, args).await?;
        for group in &mut groups {
            group.tasks.sort_unstable();
        }
        Ok(groups)
    }

    /// Inputs with which tasks last succeeded, grouped by equal inputs.
    pub async fn applied_inputs(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
        tasks: &[&str],
    ) -> Result<Vec<AppliedInputs>, StoreError> {
        let select = self.select().and_int("cluster_id = ?", Some(cluster.0));
        let select = select.and("graph_type = ?", |args| args.key(graph_type.as_str()));
        let (condition, args) = select.and_texts("task_name", tasks.iter().copied()).finish();
        let sql = format!(
            "SELECT task_name, inputs, inputs_id, {} AS nodes FROM {TABLE}{condition} \
             AND snapshot_id IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            self.name_list("node_uid")
        );
        let mut inputs: Vec<AppliedInputs> = self.read_all(sql, args).await?;
        for applied in &mut inputs {
            applied.nodes.sort_unstable();
        }
        Ok(inputs)
    }

    /// Tasks of a cluster that configure plugin repositories (by the suffix of their name), each with the
    /// common document of its last successes. A partial index covers this query.
    pub async fn applied_repositories(
        &mut self,
        cluster: ClusterId,
    ) -> Result<Vec<(String, DocumentId)>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT a.task_name, s.common_id FROM {TABLE} a JOIN state_snapshots s ON s.id = a.snapshot_id \
             WHERE a.cluster_id = $1 AND a.task_name LIKE '%-repository' ORDER BY 1, 2"
        );
        let rows = self.connection.fetch_all(sql, Args::new().int(cluster.0)).await?;
        read_pairs(&rows, TABLE, ["task_name", "common_id"])
    }

    /// End of the last successful run of a graph type that was not a dry run.
    pub async fn last_applied_at(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
    ) -> Result<Option<Micros>, StoreError> {
        let sql = "SELECT max(ended_at) AS ended_at FROM runs WHERE cluster_id = $1 AND graph_type = $2 \
                   AND dry_run = $3 AND status = $4";
        let args = Args::new().int(cluster.0).key(graph_type.as_str()).bool(false);
        let args = args.text(RunStatus::Ready.as_str());
        match self.connection.fetch_optional(sql.to_owned(), args).await? {
            Some(row) => row.get("runs", "ended_at"),
            None => Ok(None),
        }
    }

    pub async fn agent_machine(&mut self, uid: &AgentUid) -> Result<Option<AgentMachine>, StoreError> {
        self.get_where("uid = $1", Args::new().key(uid.as_str())).await
    }

    /// Nodes of a cluster, and the master, with the machine of an agent that did not join, and with applied states; each
    /// with whether it is online.
    pub async fn agent_machines_to_verify(
        &mut self,
        cluster: ClusterId,
    ) -> Result<Vec<(AgentUid, bool)>, StoreError> {
        let sql = format!(
            "SELECT u.uid, u.online FROM (SELECT CAST(id AS TEXT) AS uid, online FROM nodes WHERE cluster_id = $1 \
             UNION ALL SELECT '{}' AS uid, TRUE AS online) u \
             WHERE EXISTS (SELECT 1 FROM {MACHINES} m WHERE m.uid = u.uid AND m.machine_id IS NOT NULL) \
             AND NOT EXISTS (SELECT 1 FROM agents j WHERE j.uid = u.uid) \
             AND EXISTS (SELECT 1 FROM {TABLE} a WHERE a.node_uid = u.uid AND a.snapshot_id IS NOT NULL) ORDER BY 1",
            AgentUid::MASTER
        );
        let rows = self.connection.fetch_all(sql, Args::new().int(cluster.0)).await?;
        read_pairs(&rows, MACHINES, ["uid", "online"])
    }

    /// Reports whether any task has succeeded on a node since its states were last invalidated.
    pub async fn applied_exists(&mut self, node: &str) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM {TABLE} WHERE node_uid = $1 AND snapshot_id IS NOT NULL LIMIT 1");
        Ok(self.connection.fetch_optional(sql, Args::new().key(node)).await?.is_some())
    }

    /// Aggregates a column of texts to a JSON array.
    pub(crate) fn name_list(&self, column: &str) -> String {
        match self.connection.dialect() {
            Dialect::Sqlite => format!("json_group_array({column})"),
            Dialect::Postgres => format!("json_agg({column})::text"),
        }
    }
}

impl Store {
    /// [`WriteTransaction::applied_mark_late`] in a transaction of its own.
    pub async fn applied_late_result(
        &self,
        now: Micros,
        cluster: ClusterId,
        graph_type: &GraphType,
        run: RunId,
        instances: &[(String, String)],
    ) -> Result<(), StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        writing.applied_mark_late(cluster, graph_type, run, instances).await?;
        writing.commit_unaudited().await
    }

    /// [`WriteTransaction::agent_machine_put`] in a transaction of its own.
    pub async fn agent_machine_note(&self, machine: &AgentMachine, now: Micros) -> Result<(), StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        writing.agent_machine_put(machine).await?;
        writing.commit_unaudited().await
    }
}

impl WriteTransaction {
    /// Taints tasks on nodes: an attempt of the run was dispatched or ended without success. Within one call the
    /// last mark of a task and node wins.
    pub async fn applied_mark(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
        run: RunId,
        marks: &[AppliedMark],
    ) -> Result<(), StoreError> {
        self.require::<Cluster>(cluster.0).await?;
        // PostgreSQL rejects an upsert that writes one row twice.
        let last: BTreeMap<(&str, &str), TaintCause> = marks
            .iter()
            .map(|mark| ((mark.node_uid.as_str(), mark.task_name.as_str()), mark.cause))
            .collect();
        let row = |((uid, task), cause): ((&str, &str), TaintCause)| {
            key(cluster, graph_type, uid, task).set("tainted_by", &run).set("taint", &cause)
        };
        self.connection.insert_many(TABLE, last.into_iter().map(row).collect(), MARK).await?;
        Ok(())
    }

    /// Taints tasks whose process ended after its attempt had been given up, where it may have overwritten the
    /// effect of a later attempt. Other rows are unchanged. Returns the number of tainted rows.
    pub async fn applied_mark_late(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
        run: RunId,
        instances: &[(String, String)],
    ) -> Result<usize, StoreError> {
        let row = |(task, uid): &(String, String)| {
            key(cluster, graph_type, uid, task).set("run_id", &run).set("taint", &TaintCause::Unknown)
        };
        let updated = self.connection.update_many(instances.iter().map(row).collect(), MARK_LATE).await?;
        Ok(updated.len())
    }

    /// Records successes of a run in the rows that the run marked. Other rows are unchanged: they were
    /// invalidated or marked by another run. Returns the number of updated rows.
    pub async fn applied_put(
        &mut self,
        cluster: ClusterId,
        graph_type: &GraphType,
        run: RunId,
        snapshot: SnapshotId,
        successes: &[AppliedSuccess],
    ) -> Result<usize, StoreError> {
        let row = |success: &AppliedSuccess| {
            key(cluster, graph_type, &success.node_uid, &success.task_name)
                .set("run_id", &run)
                .set("snapshot_id", &snapshot)
                .set("document_id", &success.document_id)
                .set("inputs", &success.inputs)
                .set("inputs_id", &success.inputs_id)
        };
        let updated = self.connection.update_many(successes.iter().map(row).collect(), SUCCEED).await?;
        Ok(updated.len())
    }

    /// Deletes the applied states and taints of nodes: every task on them counts as never run. Returns their
    /// number.
    pub async fn applied_invalidate(
        &mut self,
        nodes: &[&str],
        scope: AppliedScope<'_>,
    ) -> Result<u64, StoreError> {
        let select = self.select().and_texts("node_uid", nodes.iter().copied());
        let select = match scope {
            AppliedScope::Everywhere => select,
            AppliedScope::InCluster(cluster) => select.and_int("cluster_id = ?", Some(cluster.0)),
            AppliedScope::OtherGraphs(cluster, graph_type) => select
                .and_int("cluster_id = ?", Some(cluster.0))
                .and("graph_type <> ?", |args| args.key(graph_type.as_str())),
        };
        let (condition, args) = select.finish();
        self.connection.execute(format!("DELETE FROM {TABLE}{condition}"), args).await
    }

    /// Deletes the applied states of a node in all clusters but its own: they are worthless after it has left, and
    /// wrong if it joins again.
    pub(crate) async fn applied_delete_foreign(
        &mut self,
        node: NodeId,
        cluster: Option<ClusterId>,
    ) -> Result<(), StoreError> {
        let select = self.select().and("node_uid = ?", |args| args.key(&node.to_string()));
        let select = select.and_int("cluster_id <> ?", cluster.map(|cluster| cluster.0));
        let (condition, args) = select.finish();
        self.connection.execute(format!("DELETE FROM {TABLE}{condition}"), args).await?;
        Ok(())
    }

    pub async fn agent_machine_put(&mut self, machine: &AgentMachine) -> Result<(), StoreError> {
        let values = Values::of(machine).set("noted_at", &self.now());
        let replace = "ON CONFLICT (uid) DO UPDATE SET journal_id = excluded.journal_id, \
                       machine_id = excluded.machine_id, noted_at = excluded.noted_at";
        self.connection.insert(MACHINES, values, replace).await?;
        Ok(())
    }

    pub async fn agent_machine_delete(&mut self, uid: &AgentUid) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM {MACHINES} WHERE uid = $1");
        self.connection.execute(sql, Args::new().key(uid.as_str())).await?;
        Ok(())
    }
}

fn key(cluster: ClusterId, graph_type: &GraphType, uid: &str, task: &str) -> Values {
    Values::new()
        .set("cluster_id", &cluster)
        .key("graph_type", graph_type.as_str())
        .key("node_uid", uid)
        .key("task_name", task)
}
