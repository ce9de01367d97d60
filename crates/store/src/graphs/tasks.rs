//! Task rows: known fields have a separate column each as JSON text; all other fields share one document.

use std::fmt::Write as _;
use std::sync::LazyLock;

use stoker_model::{GraphId, Json, JsonMap, StoredTask, TASK_FIELDS, Task, TaskField, TaskId};

use crate::sql::{Values, record};

pub(super) const TABLE: &str = "deployment_graph_tasks";

/// Returns SQL for the fields of a task as one JSON document: present known fields, then the others under
/// `_custom`. The database assembles the document, because one long text transfers much faster than sixteen
/// short ones.
fn document_sql(prefix: &str) -> String {
    let mut sql = "'{'".to_owned();
    for TaskField { canonical, .. } in TASK_FIELDS {
        let _ = write!(sql, " || COALESCE('\"{canonical}\":' || {prefix}{canonical} || ',', '')");
    }
    let _ = write!(sql, " || '\"_custom\":' || {prefix}_custom || '}}'");
    sql
}

/// Selects the tasks of graphs in order. A graph without tasks yields one row without a task. Each row
/// contains the generation, and one statement reads one snapshot, so tasks cannot be mistaken for those of
/// another generation.
pub(super) static SELECT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT g.id AS graph_id, g.generation AS generation, t.id AS task_id, t.task_name AS task_name, \
         {} AS document FROM deployment_graphs g \
         LEFT JOIN deployment_graph_tasks t ON t.deployment_graph_id = g.id",
        document_sql("t.")
    )
});

pub(super) const ORDER: &str = " ORDER BY g.id, t.position";

/// Row of [`SELECT`]; without a task if the graph has none.
pub(super) struct TaskRow {
    pub(super) graph_id: GraphId,
    pub(super) generation: i64,
    task_id: Option<TaskId>,
    task_name: Option<String>,
    document: Option<JsonMap>,
}

record! {
    TaskRow in "deployment_graph_tasks", "task" { graph_id, generation, task_id, task_name, document }
}

impl TaskRow {
    pub(super) fn into_task(self) -> Option<StoredTask> {
        let (id, name, mut fields) = (self.task_id?, self.task_name?, self.document?);
        // `_custom` is last, so the other fields keep their order.
        if let Some(Json::Object(mut custom)) = fields.remove("_custom") {
            fields.append(&mut custom);
        }
        Some(StoredTask { id, task: Task { name, fields } })
    }
}

pub(super) fn values(graph_id: GraphId, position: i64, task: &Task) -> Values {
    let values = Values::new().set("deployment_graph_id", &graph_id).key("task_name", &task.name);
    let values = TASK_FIELDS.iter().fold(values.set("position", &position), |values, spelling| {
        values.opt_json(spelling.canonical, task.fields.get(spelling.canonical))
    });
    let has_column = |name: &str| TASK_FIELDS.iter().any(|spelling| spelling.canonical == name);
    let custom = task.fields.iter().filter(|(name, _)| !has_column(name));
    let custom: JsonMap = custom.map(|(name, value)| (name.clone(), value.clone())).collect();
    values.set("_custom", &custom)
}
