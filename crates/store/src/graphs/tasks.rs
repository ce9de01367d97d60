//! Task rows: known fields have their own column as JSON text, all other fields share one document.

use std::fmt::Write as _;
use std::sync::LazyLock;

use stoker_model::{Json, StoredTask, TASK_FIELDS, Task, TaskField, TaskId};

use crate::StoreError;
use crate::sql::{Args, Columns};

pub(super) const TABLE: &str = "deployment_graph_tasks";

/// SQL for the fields of a task as one JSON document: present known fields, then the others under `_custom`.
/// The database assembles it because one long text transfers much faster than sixteen short ones.
fn document_sql(prefix: &str) -> String {
    let mut sql = "'{'".to_owned();
    for TaskField { canonical, .. } in TASK_FIELDS {
        let _ = write!(sql, " || COALESCE('\"{canonical}\":' || {prefix}{canonical} || ',', '')");
    }
    let _ = write!(sql, " || '\"_custom\":' || {prefix}_custom || '}}'");
    sql
}

/// Tasks of graphs in order. A graph without tasks yields one row without a task. Each row contains the
/// generation, and one statement sees one snapshot, so tasks cannot be mistaken for those of another
/// generation.
pub(super) static SELECT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT g.id, g.generation, t.id, t.task_name, {} FROM deployment_graphs g \
         LEFT JOIN deployment_graph_tasks t ON t.deployment_graph_id = g.id",
        document_sql("t.")
    )
});

pub(super) const ORDER: &str = " ORDER BY g.id, t.position";

/// Rows per insert. More rows save round trips, but SQLite searches linearly for numbered placeholders.
pub(super) const ROWS_MAX: usize = 12;

pub(super) fn insert_sql(n_rows: usize) -> String {
    let n_columns = TASK_FIELDS.len() + 4;
    let row = |index: usize| {
        let placeholders: Vec<String> =
            (1..=n_columns).map(|column| format!("${}", index * n_columns + column)).collect();
        format!("({})", placeholders.join(", "))
    };
    let rows: Vec<String> = (0..n_rows).map(row).collect();
    let columns: Vec<&str> =
        TASK_FIELDS.iter().map(|spelling| spelling.canonical).chain(["_custom"]).collect();
    format!(
        "INSERT INTO deployment_graph_tasks (deployment_graph_id, task_name, position, {}) VALUES {} \
         RETURNING id, task_name",
        columns.join(", "),
        rows.join(", ")
    )
}

pub(super) fn add_args(args: Args, graph_id: i64, position: i64, task: &Task) -> Args {
    let mut args = args.int(graph_id).key(&task.name).int(position);
    for spelling in TASK_FIELDS {
        args = args.opt_json(task.fields.get(spelling.canonical));
    }
    let has_column = |name: &str| TASK_FIELDS.iter().any(|spelling| spelling.canonical == name);
    let custom = task.fields.iter().filter(|(name, _)| !has_column(name));
    args.map(&custom.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Reads the columns after the generation in [`SELECT`]; `None` for a graph without tasks.
pub(super) fn read(columns: &mut Columns<'_>) -> Result<Option<StoredTask>, StoreError> {
    let Some(id) = columns.opt_int()? else { return Ok(None) };
    let name = columns.text()?;
    let mut fields = columns.map()?;
    // `_custom` is last, so the other fields keep their order.
    if let Some(Json::Object(mut custom)) = fields.remove("_custom") {
        fields.append(&mut custom);
    }
    Ok(Some(StoredTask { id: TaskId(id), task: Task { name, fields } }))
}
