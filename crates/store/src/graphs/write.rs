//! Writes graphs. An update writes only the task rows that differ.

use std::collections::HashMap;

use stoker_model::{
    Cluster, Graph, GraphId, GraphMetadata, GraphType, Owner, Plugin, Release, StoredTask, Task, TaskId,
};

use super::diff::{Diff, check_names, diff, positions};
use super::{relation, tasks};
use crate::sql::{Args, Values, read_pairs};
use crate::{StoreError, WriteTransaction};

const GRAPHS: &str = "deployment_graphs";
const DUPLICATE: StoreError = StoreError::AlreadyExists { what: "graph type" };
const MISSING: StoreError = StoreError::NotFound { what: "graph" };
/// Maximum number of row moves per statement.
const MOVES_MAX: usize = 500;

/// Position of a task, and its existing row, if any.
struct PlacedTask {
    position: i64,
    row: Option<TaskId>,
}

impl WriteTransaction {
    pub async fn graph_create(
        &mut self,
        owner: Owner,
        graph_type: &GraphType,
        metadata: &GraphMetadata,
        tasks: &[Task],
    ) -> Result<Graph, StoreError> {
        check_names(tasks)?;
        self.require_owner(owner).await?;
        let (table, column) = relation(owner.kind());
        let conflicting = format!("SELECT 1 FROM {table} WHERE {column} = $1 AND type = $2");
        if self.exists(conflicting, Args::new().int(owner.id()).key(graph_type.as_str())).await? {
            return Err(DUPLICATE);
        }
        let values = Values::of(metadata).set("generation", &1_i64);
        let row = self.connection.insert_returning(GRAPHS, values, "RETURNING id").await?;
        let id: GraphId = row.ok_or(MISSING)?.get(GRAPHS, "id")?;
        let relation = Values::new().key("type", graph_type.as_str()).set("deployment_graph_id", &id);
        self.connection.insert(table, relation.set(column, &owner.id()), "").await?;
        let placed = (0..tasks.len() as i64).map(|position| PlacedTask { position, row: None }).collect();
        let tasks = self.tasks_insert(id, tasks, placed).await?.into();
        let (graph_type, metadata) = (graph_type.clone(), metadata.clone());
        let graph = Graph { id, generation: 1, owner, graph_type, metadata, tasks };
        self.written.push(graph.clone());
        Ok(graph)
    }

    /// Replaces the metadata of a graph and, if given, its tasks. An unchanged task keeps its row, a changed
    /// task gets a new row. Writes nothing without changes.
    pub async fn graph_update(
        &mut self,
        id: GraphId,
        expected_generation: i64,
        metadata: &GraphMetadata,
        tasks: Option<&[Task]>,
    ) -> Result<Graph, StoreError> {
        check_names(tasks.unwrap_or_default())?;
        let graph = self.graph_expect(id, expected_generation).await?;
        let difference = tasks.map(|tasks| (tasks, diff(&graph.tasks, tasks)));
        let difference = difference.filter(|(_, difference)| !difference.is_empty);
        if difference.is_none() && graph.metadata == *metadata {
            return Ok(graph);
        }
        let key = Args::new().int(id.0).int(expected_generation);
        let increment = "generation = generation + 1";
        let (sql, args) = Values::of(metadata).update(GRAPHS, increment, "id = ? AND generation = ?", key);
        if self.connection.execute(sql, args).await? == 0 {
            return Err(self.graph_stale(id).await?);
        }
        let tasks = match difference {
            Some((tasks, difference)) => self.tasks_replace(id, tasks, difference).await?.into(),
            None => graph.tasks,
        };
        let generation = expected_generation + 1;
        let graph = Graph { generation, metadata: metadata.clone(), tasks, ..graph };
        self.written.push(graph.clone());
        Ok(graph)
    }

    /// Deletes one task; the rows of the others are unchanged.
    pub async fn graph_task_delete(
        &mut self,
        id: GraphId,
        expected_generation: i64,
        task_name: &str,
    ) -> Result<Graph, StoreError> {
        let graph = self.graph_expect(id, expected_generation).await?;
        let others = graph.tasks.iter().filter(|stored| stored.task.name != task_name);
        let others: Vec<Task> = others.map(|stored| stored.task.clone()).collect();
        if others.len() == graph.tasks.len() {
            return Err(StoreError::NotFound { what: "task" });
        }
        self.graph_update(id, expected_generation, &graph.metadata, Some(&others)).await
    }

    /// Deletes a graph with its tasks. Returns whether the graph existed.
    pub async fn graph_delete(&mut self, id: GraphId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM deployment_graphs WHERE id = $1".to_owned();
        Ok(self.connection.remove(sql, Args::new().int(id.0)).await? == 1)
    }

    /// Deletes the graphs of an owner. Cascading foreign keys remove only the relations and tasks, because
    /// relations reference graphs and not the other way round.
    pub(crate) async fn graphs_delete_of_owner(&mut self, owner: Owner) -> Result<(), StoreError> {
        let (table, column) = relation(owner.kind());
        let sql = format!(
            "DELETE FROM deployment_graphs WHERE id IN \
             (SELECT deployment_graph_id FROM {table} WHERE {column} = $1)"
        );
        self.connection.remove(sql, Args::new().int(owner.id())).await.map(drop)
    }

    async fn require_owner(&mut self, owner: Owner) -> Result<(), StoreError> {
        match owner {
            Owner::Release(id) => self.require::<Release>(id.0).await,
            Owner::Cluster(id) => self.require::<Cluster>(id.0).await,
            Owner::Plugin(id) => self.require::<Plugin>(id.0).await,
        }
    }

    async fn graph_expect(&mut self, id: GraphId, generation: i64) -> Result<Graph, StoreError> {
        let graph = self.graph_get(id).await?.ok_or(MISSING)?;
        if graph.generation == generation {
            return Ok(graph);
        }
        Err(StoreError::Stale { current: graph.generation })
    }

    async fn graph_stale(&mut self, id: GraphId) -> Result<StoreError, StoreError> {
        let head = self.graph_heads(&[id]).await?.pop();
        Ok(head.map_or(MISSING, |head| StoreError::Stale { current: head.generation }))
    }

    async fn tasks_replace(
        &mut self,
        id: GraphId,
        tasks: &[Task],
        difference: Diff,
    ) -> Result<Vec<StoredTask>, StoreError> {
        self.graph_source_delete(id).await?;
        // Deleted rows are removed before inserting, because new rows may reuse their names.
        if !difference.deleted.is_empty() {
            let deleted = difference.deleted.iter().map(|id| id.0);
            let (condition, args) = self.select().and_ids("id", deleted).finish();
            let sql = format!("DELETE FROM deployment_graph_tasks{condition}");
            self.connection.remove(sql, args).await?;
        }
        let placed = self.tasks_place(id, &difference.reused).await?;
        self.tasks_insert(id, tasks, placed).await
    }

    /// Assigns a position to every task and updates the rows that must move.
    async fn tasks_place(
        &mut self,
        id: GraphId,
        reused: &[Option<TaskId>],
    ) -> Result<Vec<PlacedTask>, StoreError> {
        let sql = "SELECT id, position FROM deployment_graph_tasks WHERE deployment_graph_id = $1".to_owned();
        let rows = self.connection.fetch_all(sql, Args::new().int(id.0)).await?;
        let old: HashMap<TaskId, i64> = read_pairs(&rows, tasks::TABLE, ["id", "position"])?;
        let old_positions: Vec<Option<i64>> =
            reused.iter().map(|row| old.get(row.as_ref()?).copied()).collect();
        let placed = positions(&old_positions).into_iter().zip(reused);
        let placed: Vec<PlacedTask> =
            placed.map(|(position, row)| PlacedTask { position, row: *row }).collect();
        let moved = placed.iter().zip(&old_positions).filter(|(placed, old)| Some(placed.position) != **old);
        let moved: Vec<(TaskId, i64)> =
            moved.filter_map(|(placed, _)| Some((placed.row?, placed.position))).collect();
        for chunk in moved.chunks(MOVES_MAX) {
            self.tasks_move(chunk).await?;
        }
        Ok(placed)
    }

    async fn tasks_move(&mut self, moved: &[(TaskId, i64)]) -> Result<(), StoreError> {
        let values: Vec<String> = moved.iter().map(|(id, position)| format!("({id}, {position})")).collect();
        let sql = format!(
            "WITH moved (id, new_position) AS (VALUES {}) UPDATE deployment_graph_tasks \
             SET position = (SELECT new_position FROM moved WHERE moved.id = deployment_graph_tasks.id) \
             WHERE id IN (SELECT id FROM moved)",
            values.join(", ")
        );
        self.connection.execute(sql, Args::new()).await.map(drop)
    }

    /// Inserts the tasks that have no row yet. Returns all tasks with their row ids.
    async fn tasks_insert(
        &mut self,
        id: GraphId,
        tasks: &[Task],
        placed: Vec<PlacedTask>,
    ) -> Result<Vec<StoredTask>, StoreError> {
        let new = tasks.iter().zip(&placed).filter(|(_, placed)| placed.row.is_none());
        let new = new.map(|(task, placed)| tasks::values(id, placed.position, task)).collect();
        let rows = self.connection.insert_many(tasks::TABLE, new, "RETURNING task_name, id").await?;
        let rows: HashMap<String, TaskId> = read_pairs(&rows, tasks::TABLE, ["task_name", "id"])?;
        let stored = tasks.iter().zip(placed).map(|(task, placed)| {
            let id = placed.row.or_else(|| rows.get(&task.name).copied());
            let id = id.ok_or(StoreError::NotFound { what: "task" })?;
            Ok(StoredTask { id, task: task.clone() })
        });
        stored.collect()
    }
}
