//! Module runs: lists of modules in transit to a node, one run per node at a time.

use stoker_model::{Actor, Micros, ModuleAction, ModuleItem, ModuleRun, NodeId, RunId};

use super::{BODY, body_args, read_body, read_sealed};
use crate::sql::{Args, Many, Row};
use crate::{Session, Store, StoreError, WriteTransaction};

const RUNS: &str = "module_runs";
const ITEMS: &str = "module_run_items";

fn read_item(row: &Row) -> Result<ModuleItem, StoreError> {
    let mut columns = row.columns(ITEMS);
    Ok(ModuleItem {
        uuid: columns.text()?,
        body: read_body(&mut columns)?,
        contents: read_sealed(&mut columns)?,
    })
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
        let sql = format!("SELECT node_id, action, after_run, deadline FROM {RUNS} WHERE run_id = $1");
        let Some(row) = self.connection.fetch_optional(sql, Args::new().int(run.0)).await? else {
            return Ok(None);
        };
        let sql = format!(
            "SELECT uuid, {BODY}, key_name, contents FROM {ITEMS} WHERE run_id = $1 ORDER BY position"
        );
        let items = self.connection.fetch_all(sql, Args::new().int(run.0)).await?;
        let mut columns = row.columns(RUNS);
        Ok(Some(ModuleRun {
            run_id: run,
            node_id: NodeId(columns.int()?),
            action: columns.word(ModuleAction::parse)?,
            after: columns.opt_int()?.map(RunId),
            deadline: columns.opt_int()?.map(Micros),
            items: items.iter().map(read_item).collect::<Result<_, _>>()?,
        }))
    }

    /// Unfinished module runs of a node, oldest first.
    pub async fn module_runs_of_node(&mut self, node_id: NodeId) -> Result<Vec<RunId>, StoreError> {
        let sql = format!(
            "SELECT m.run_id FROM {RUNS} m JOIN runs r ON r.id = m.run_id WHERE m.node_id = $1 \
             AND r.status IN ('pending', 'running') ORDER BY m.run_id"
        );
        let rows = self.connection.fetch_all(sql, Args::new().int(node_id.0)).await?;
        rows.iter().map(|row| row.columns(RUNS).int().map(RunId)).collect()
    }
}

impl WriteTransaction {
    /// Records the modules that an existing run applies to a node.
    pub async fn module_run_create(&mut self, run: &ModuleRun) -> Result<(), StoreError> {
        self.require::<stoker_model::Run>(run.run_id.0).await?;
        self.require::<stoker_model::Node>(run.node_id.0).await?;
        let sql = format!(
            "INSERT INTO {RUNS} (run_id, node_id, action, after_run, deadline, turn_of) VALUES ($1, $2, $3, $4, $5, NULL)"
        );
        let args = Args::new()
            .int(run.run_id.0)
            .int(run.node_id.0)
            .text(run.action.as_str())
            .opt_int(run.after.map(|id| id.0))
            .opt_time(run.deadline);
        self.connection.execute(sql, args).await?;
        let before = format!("INSERT INTO {ITEMS} (run_id, position, uuid, {BODY}, key_name, contents)");
        let rows = (0..).zip(&run.items).map(|(position, item)| {
            let args = Args::new().int(run.run_id.0).int(position).key(&item.uuid);
            body_args(args, &item.body).text(&item.contents.key).bytes(&item.contents.bytes)
        });
        self.connection.write_many(Many { before: &before, after: "" }, rows.collect()).await?;
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

    /// Deletes the record of an ended run, so that the next run can start. Returns whether there was one.
    pub async fn module_run_delete(&mut self, run: RunId) -> Result<bool, StoreError> {
        let sql = format!("DELETE FROM {RUNS} WHERE run_id = $1");
        Ok(self.connection.execute(sql, Args::new().int(run.0)).await? == 1)
    }
}
