//! Source locations of graph tasks in the uploaded file.

use std::collections::{BTreeMap, HashMap};

use stoker_model::{Graph, GraphId, GraphSource, Json};

use crate::sql::{Args, Record as _, Values, record};
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "deployment_graph_sources";

impl Session {
    /// Returns the source locations of the given graphs; graphs without locations are absent.
    pub async fn graph_sources(
        &mut self,
        ids: impl IntoIterator<Item = GraphId>,
    ) -> Result<HashMap<GraphId, GraphSource>, StoreError> {
        let select = self.select().and_ids("deployment_graph_id", ids.into_iter().map(|id| id.0));
        let (condition, args) = select.finish();
        let sql = format!("{}{condition}", SourceRow::table().select_sql());
        let rows: Vec<SourceRow> = self.read_all(sql, args).await?;
        let source = |row: SourceRow| GraphSource { file: row.file, lines: lines_of(&row.lines) };
        Ok(rows.into_iter().map(|row| (row.graph_id, source(row))).collect())
    }
}

/// Row of `deployment_graph_sources`. The column `lines` maps tasks and their fields to line numbers, as JSON.
struct SourceRow {
    graph_id: GraphId,
    file: Option<String>,
    lines: Json,
}

record! {
    SourceRow in "deployment_graph_sources", "graph source" { graph_id as "deployment_graph_id", file, lines }
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
        let row = SourceRow { graph_id: graph.id, file: source.file.clone(), lines };
        self.connection.insert(TABLE, Values::of(&row), "").await?;
        Ok(())
    }

    /// Deletes locations that became outdated because the tasks changed.
    pub(super) async fn graph_source_delete(&mut self, id: GraphId) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM {TABLE} WHERE deployment_graph_id = $1");
        self.connection.execute(sql, Args::new().int(id.0)).await?;
        Ok(())
    }
}
