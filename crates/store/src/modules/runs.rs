//! Module runs: lists of modules in transit to a node, one run per node at a time.

use stoker_model::{
    Actor, EncryptedContents, Micros, ModuleAction, ModuleBody, ModuleItem, ModuleRun, NodeId, RunId,
};

use crate::sql::{Args, Record as _, Values, read_column, record};
use crate::{Session, Store, StoreError, WriteTransaction};

const RUNS: &str = "module_runs";
const ITEMS: &str = "module_run_items";

/// A module run without its items.
struct Head {
    run_id: RunId,
    node_id: NodeId,
    action: ModuleAction,
    after: Option<RunId>,
    deadline: Option<Micros>,
}

record! {
    Head in "module_runs", "module run" { run_id, node_id, action, after as "after_run", deadline }
}

// Written with the id of the run and the position in it.
record! {
    ModuleItem in "module_run_items", "module of the run" { uuid [key], body: ModuleBody, contents: EncryptedContents }
}

impl Store {
    /// Gives a run exclusive access to its node, unless another run has it or is ahead in the queue.
    pub async fn module_run_acquire_node(
        &self,
        run: RunId,
        node_id: NodeId,
        now: Micros,
    ) -> Result<bool, StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        match writing.module_run_try_acquire_node(run, node_id).await {
            Ok(has_turn) => writing.commit_unaudited().await.map(|()| has_turn),
            // Lost a race with another server.
            Err(StoreError::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Session {
    pub async fn module_run(&mut self, run: RunId) -> Result<Option<ModuleRun>, StoreError> {
        let Some(head) = self.get_where("run_id = $1", Args::new().int(run.0)).await? else {
            return Ok(None);
        };
        let Head { run_id, node_id, action, after, deadline } = head;
        let sql = format!("{} WHERE run_id = $1 ORDER BY position", ModuleItem::table().select_sql());
        let items = self.read_all(sql, Args::new().int(run.0)).await?;
        Ok(Some(ModuleRun { run_id, node_id, action, after, deadline, items }))
    }

    /// Returns the unfinished module runs of a node, oldest first.
    pub async fn module_runs_of_node(&mut self, node_id: NodeId) -> Result<Vec<RunId>, StoreError> {
        let sql = format!(
            "SELECT m.run_id AS run_id FROM {RUNS} m JOIN runs r ON r.id = m.run_id WHERE m.node_id = $1 \
             AND r.status IN ('pending', 'running') ORDER BY m.run_id"
        );
        let rows = self.connection.fetch_all(sql, Args::new().int(node_id.0)).await?;
        read_column(&rows, RUNS, "run_id")
    }
}

impl WriteTransaction {
    /// Records the modules that an existing run applies to a node.
    pub async fn module_run_create(&mut self, run: &ModuleRun) -> Result<(), StoreError> {
        self.require::<stoker_model::Run>(run.run_id.0).await?;
        self.require::<stoker_model::Node>(run.node_id.0).await?;
        let &ModuleRun { run_id, node_id, action, after, deadline, .. } = run;
        let values = Values::of(&Head { run_id, node_id, action, after, deadline });
        self.connection.insert(RUNS, values, "").await?;
        let row = |(position, item): (i64, &ModuleItem)| {
            Values::of(item).set("run_id", &run_id).set("position", &position)
        };
        let rows = (0..).zip(&run.items).map(row).collect();
        self.connection.insert_many(ITEMS, rows, "").await?;
        Ok(())
    }

    /// Gives a run exclusive access to its node, unless an earlier run has not ended.
    pub async fn module_run_try_acquire_node(
        &mut self,
        run: RunId,
        node_id: NodeId,
    ) -> Result<bool, StoreError> {
        let ended = format!(
            "DELETE FROM {RUNS} WHERE node_id = $1 AND run_id <> $2 AND run_id IN \
             (SELECT id FROM runs WHERE status IN ('ready', 'error'))"
        );
        self.connection.execute(ended, Args::new().int(node_id.0).int(run.0)).await?;
        let sql = format!(
            "UPDATE {RUNS} SET turn_of = node_id WHERE run_id = $1 AND NOT EXISTS \
             (SELECT 1 FROM {RUNS} o WHERE o.node_id = $2 AND o.run_id <> $1 AND (o.turn_of IS NOT NULL OR o.run_id < $1))"
        );
        Ok(self.connection.execute(sql, Args::new().int(run.0).int(node_id.0)).await? == 1)
    }

    /// Deletes the record of an ended run, so that the next run can start. Returns whether the record
    /// existed.
    pub async fn module_run_delete(&mut self, run: RunId) -> Result<bool, StoreError> {
        let sql = format!("DELETE FROM {RUNS} WHERE run_id = $1");
        Ok(self.connection.execute(sql, Args::new().int(run.0)).await? == 1)
    }
}
