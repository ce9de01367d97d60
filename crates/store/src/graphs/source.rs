//! Source locations of graph tasks in the uploaded file.

use std::collections::{BTreeMap, HashMap};

use stoker_model::{Graph, GraphId, GraphSource, Json};

use crate::sql::{Args, Row};
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "deployment_graph_sources";

impl Session {
    /// Source locations of those of the graphs that have them.
    pub async fn graph_sources(
        &mut self,
        ids: impl IntoIterator<Item = GraphId>,
    ) -> Result<HashMap<GraphId, GraphSource>, StoreError> {
        let select = self.select().and_ids("deployment_graph_id", ids.into_iter().map(|id| id.0));
        let (condition, args) = select.finish();
        let sql = format!("SELECT deployment_graph_id, file, lines FROM {TABLE}{condition}");
        let rows = self.connection.fetch_all(sql, args).await?;
        rows.iter().map(from_row).collect()
    }
}

fn from_row(row: &Row) -> Result<(GraphId, GraphSource), StoreError> {
    let mut columns = row.columns(TABLE);
    let (id, file) = (GraphId(columns.int()?), columns.opt_text()?);
    let lines = columns.json()?;
    Ok((id, GraphSource { file, lines: lines_of(&lines) }))
}

fn lines_of(json: &Json) -> BTreeMap<String, BTreeMap<String, u32>> {
    let number = |value: &Json| value.as_u64().and_then(|line| u32::try_from(line).ok());
    let fields = |fields: &Json| {
        let entries = fields.as_object().into_iter().flatten();
        entries.filter_map(|(name, line)| Some((name.clone(), number(line)?))).collect()
    };
    json.as_object().into_iter().flatten().map(|(task, lines)| (task.clone(), fields(lines))).collect()
}

impl WriteTransaction {
    /// Records the source locations of a graph's current tasks.
    pub async fn graph_source_put(&mut self, graph: &Graph, source: &GraphSource) -> Result<(), StoreError> {
        self.graph_source_delete(graph.id).await?;
        let lines = serde_json::to_value(&source.lines).unwrap_or_default();
        let sql = format!("INSERT INTO {TABLE} (deployment_graph_id, file, lines) VALUES ($1, $2, $3)");
        let args = Args::new().int(graph.id.0).opt_text(source.file.as_deref()).json(&lines);
        self.connection.execute(sql, args).await?;
        Ok(())
    }

    /// Deletes locations that became outdated because the tasks changed.
    pub(super) async fn graph_source_delete(&mut self, id: GraphId) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM {TABLE} WHERE deployment_graph_id = $1");
        self.connection.execute(sql, Args::new().int(id.0)).await?;
        Ok(())
    }
}
