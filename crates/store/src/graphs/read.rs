//! Reads graphs: the graph rows first, then the tasks of graphs that are not cached.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_model::{Graph, GraphId, GraphMetadata, GraphType, Owner, OwnerKind, StoredTask};

use super::tasks::{self, TaskRow};
use super::{GraphFilter, relation};
use crate::sql::{Args, Cells, Column, Fields, Record as _, Row, Value as _, read_all, record};
use crate::{List, Page, Session, StoreError};

const FROM: &str = "deployment_graphs g JOIN deployment_graph_owners o ON o.deployment_graph_id = g.id";
/// Maximum number of optimistic reads. An attempt fails only if a graph changed between two statements.
const ATTEMPTS_MAX: usize = 16;

/// A graph without its tasks.
pub(super) struct Head {
    pub(super) id: GraphId,
    pub(super) generation: i64,
    pub(super) owner: Owner,
    pub(super) graph_type: GraphType,
    pub(super) metadata: GraphMetadata,
}

impl Head {
    pub(super) fn with_tasks(self, tasks: Arc<[StoredTask]>) -> Graph {
        let Self { id, generation, owner, graph_type, metadata } = self;
        Graph { id, generation, owner, graph_type, metadata, tasks }
    }
}

record! {
    Head in "deployment_graphs", "graph" {
        id [auto sort], generation [auto sort], owner: Owner, graph_type as "type" [sort], metadata: GraphMetadata,
    }
}

record! {
    GraphMetadata in "deployment_graphs", "graph" {
        name as "verbose_name" [sort], node_filter, on_definition_change, on_success, on_error, on_stop,
    }
}

impl Fields for Owner {
    fn add_columns(list: &mut Vec<Column>) {
        list.extend(
            ["owner_kind", "owner_id"].map(|name| Column { is_sortable: true, ..Column::plain(name) }),
        );
    }

    fn read(cells: &mut Cells<'_>) -> Result<Self, StoreError> {
        let (kind, id) = (OwnerKind::read(cells.cell()?)?, i64::read(cells.cell()?)?);
        Ok(Self::new(kind, id))
    }

    fn write(&self, args: Args) -> Args {
        args.text(self.kind().as_str()).int(self.id())
    }
}

impl Session {
    pub async fn graph_get(&mut self, id: GraphId) -> Result<Option<Graph>, StoreError> {
        let args = Args::new().int(id.0);
        let head = self.graph_head(FROM, "g.id = $1", args).await?;
        Ok(self.graphs_fill(head.into_iter().collect()).await?.pop())
    }

    pub async fn graph_find(
        &mut self,
        owner: Owner,
        graph_type: &GraphType,
    ) -> Result<Option<Graph>, StoreError> {
        // Query the owner's table directly: this runs for each layer of each plan.
        let (table, column) = relation(owner.kind());
        let from = format!(
            "deployment_graphs g JOIN (SELECT deployment_graph_id, type, '{}' AS owner_kind, {column} AS owner_id \
             FROM {table}) o ON o.deployment_graph_id = g.id",
            owner.kind()
        );
        let args = Args::new().int(owner.id()).key(graph_type.as_str());
        let head = self.graph_head(&from, "o.owner_id = $1 AND o.type = $2", args).await?;
        Ok(self.graphs_fill(head.into_iter().collect()).await?.pop())
    }

    pub async fn graph_list(&mut self, filter: &GraphFilter, list: &List) -> Result<Page<Graph>, StoreError> {
        let mut select = self.select();
        if let Some(owners) = &filter.owners {
            let alternatives = OwnerKind::ALL.iter().filter_map(|kind| {
                let ids: Vec<i64> =
                    owners.iter().filter(|owner| owner.kind() == *kind).map(|owner| owner.id()).collect();
                (!ids.is_empty()).then(|| (format!("o.owner_kind = '{kind}'"), "o.owner_id", ids))
            });
            select = select.and_any_ids(alternatives.collect());
        }
        if let Some(types) = &filter.types {
            select = select.and_texts("o.type", types.iter().map(GraphType::as_str));
        }
        let order = list.order_sql(&Head::table().orders, "id")?;
        let sql = format!("SELECT {} FROM {FROM}", Head::table().select_list());
        let (rows, total) = self.page(&sql, FROM, select, &order, list).await?;
        Ok(Page { items: self.graphs_fill(read_all(&rows)?).await?, total })
    }

    async fn graph_head(
        &mut self,
        from: &str,
        condition: &'static str,
        args: Args,
    ) -> Result<Option<Head>, StoreError> {
        let sql = format!("SELECT {} FROM {from} WHERE {condition}", Head::table().select_list());
        let row = self.connection.fetch_optional(sql, args).await?;
        row.as_ref().map(Row::read).transpose()
    }

    pub(super) async fn graph_heads(&mut self, ids: &[GraphId]) -> Result<Vec<Head>, StoreError> {
        let (condition, args) = self.select().and_ids("g.id", ids.iter().map(|id| id.0)).finish();
        let columns = Head::table().select_list();
        self.read_all(format!("SELECT {columns} FROM {FROM}{condition} ORDER BY g.id"), args).await
    }

    /// Loads the tasks of graphs in the given order. Outside a transaction, a graph may change between the
    /// two reads; it is then read again. A graph that was deleted in the meantime is omitted.
    pub(super) async fn graphs_fill(&mut self, mut heads: Vec<Head>) -> Result<Vec<Graph>, StoreError> {
        let mut tasks: HashMap<GraphId, (i64, Arc<[StoredTask]>)> = HashMap::new();
        for _ in 0..ATTEMPTS_MAX {
            for head in &heads {
                if let Some(cached) = self.cache.get(head.id, head.generation) {
                    tasks.insert(head.id, (head.generation, cached));
                }
            }
            let has_current_tasks = |head: &Head, tasks: &HashMap<GraphId, (i64, _)>| {
                tasks.get(&head.id).is_some_and(|(generation, _)| *generation == head.generation)
            };
            let uncached: Vec<GraphId> =
                heads.iter().filter(|head| !has_current_tasks(head, &tasks)).map(|head| head.id).collect();
            if uncached.is_empty() {
                break;
            }
            self.tasks_read(&uncached, &mut tasks).await?;
            heads.retain(|head| tasks.contains_key(&head.id));
            let outdated: Vec<GraphId> =
                heads.iter().filter(|head| !has_current_tasks(head, &tasks)).map(|head| head.id).collect();
            if outdated.is_empty() {
                break;
            }
            let mut newer: HashMap<GraphId, Head> =
                self.graph_heads(&outdated).await?.into_iter().map(|head| (head.id, head)).collect();
            heads = heads
                .into_iter()
                .filter_map(
                    |head| if outdated.contains(&head.id) { newer.remove(&head.id) } else { Some(head) },
                )
                .collect();
        }
        heads
            .into_iter()
            .map(|head| match tasks.get(&head.id) {
                Some((generation, tasks)) if *generation == head.generation => {
                    Ok(head.with_tasks(Arc::clone(tasks)))
                }
                Some((current, _)) => Err(StoreError::Stale { current: *current }),
                None => Err(StoreError::NotFound { what: "graph" }),
            })
            .collect()
    }

    async fn tasks_read(
        &mut self,
        ids: &[GraphId],
        tasks_by_graph: &mut HashMap<GraphId, (i64, Arc<[StoredTask]>)>,
    ) -> Result<(), StoreError> {
        let (condition, args) = self.select().and_ids("g.id", ids.iter().map(|id| id.0)).finish();
        let sql = format!("{}{condition}{}", *tasks::SELECT, tasks::ORDER);
        let rows: Vec<TaskRow> = self.read_all(sql, args).await?;
        for id in ids {
            tasks_by_graph.remove(id);
        }
        let n_rows = rows.len();
        let mut read: HashMap<GraphId, (i64, Vec<StoredTask>)> = HashMap::new();
        for row in rows {
            let new = || (row.generation, Vec::with_capacity(n_rows));
            let (_, list) = read.entry(row.graph_id).or_insert_with(new);
            list.extend(row.into_task());
        }
        for (id, (generation, list)) in read {
            let list: Arc<[StoredTask]> = list.into();
            if self.is_settled {
                self.cache.put(id, generation, &list);
            }
            tasks_by_graph.insert(id, (generation, list));
        }
        Ok(())
    }
}
