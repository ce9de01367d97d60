//! Rows of tasks: a field that has a column is JSON text there, all others are one document.

use std::fmt::Write as _;
use std::sync::LazyLock;

use stoker_model::{Json, Spelling, StoredTask, TASK_FIELDS, Task, TaskId};

use crate::StoreError;
use crate::sql::{Args, Columns};

pub(super) const TABLE: &str = "deployment_graph_tasks";

/// The fields of a task as one document: those that have a column and are there, then all others under `_custom`.
/// The engine puts it together because one long text crosses over much faster than sixteen short ones.
fn document(prefix: &str) -> String {
    let mut sql = "'{'".to_owned();
    for Spelling { canonical, .. } in TASK_FIELDS {
        let _ = write!(sql, " || COALESCE('\"{canonical}\":' || {prefix}{canonical} || ',', '')");
    }
    let _ = write!(sql, " || '\"_custom\":' || {prefix}_custom || '}}'");
    sql
}

/// The tasks of some graphs in order. A graph without tasks has one row of it alone, and each row tells the
/// generation: one statement sees one moment, so that tasks never pass for those of another generation.
pub(super) static SELECT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT g.id, g.generation, t.id, t.task_name, {} FROM deployment_graphs g \
         LEFT JOIN deployment_graph_tasks t ON t.deployment_graph_id = g.id",
        document("t.")
    )
});

pub(super) const ORDER: &str = " ORDER BY g.id, t.position";

/// How many rows one statement adds: fewer round trips, but SQLite looks for each placeholder among all of them.
pub(super) const ROWS_MAX: usize = 12;

pub(super) fn insert_sql(n_rows: usize) -> String {
    let n_columns = TASK_FIELDS.len() + 4;
    let row = |index: usize| {
        let places: Vec<String> =
            (1..=n_columns).map(|place| format!("${}", index * n_columns + place)).collect();
        format!("({})", places.join(", "))
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
    let own = task.fields.iter().filter(|(name, _)| !has_column(name));
    args.map(&own.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Reads what follows the generation in [`SELECT`]; `None` for the row of a graph without tasks.
pub(super) fn read(columns: &mut Columns<'_>) -> Result<Option<StoredTask>, StoreError> {
    let Some(id) = columns.opt_int()? else { return Ok(None) };
    let name = columns.text()?;
    let mut fields = columns.map()?;
    // The last one, so that the others stay in order.
    if let Some(Json::Object(mut own)) = fields.remove("_custom") {
        fields.append(&mut own);
    }
    Ok(Some(StoredTask { id: TaskId(id), task: Task { name, fields } }))
}
