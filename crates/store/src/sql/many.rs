//! Bulk statements: many rows per statement.

use sqlx::Arguments as _;
use sqlx::postgres::PgArguments;

use super::args::{Arg, Args};
use super::{Dialect, Record, Values};
use crate::StoreError;

/// Maximum number of values in a SQLite statement. Prepared statements are cached, and longer statements take
/// more memory.
const SQLITE_VALUES_MAX: usize = 480;
/// Maximum number of rows in a PostgreSQL statement; more would only take memory.
const POSTGRES_ROWS_MAX: usize = 5000;

/// Rows of a bulk statement, with the names of their columns.
#[derive(Default)]
pub(crate) struct Bulk {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Args>,
}

impl Bulk {
    /// Creates one row per record. `shared` has columns with the same value in each row.
    pub(crate) fn of<'r, T: Record + 'r>(shared: &Values, records: impl IntoIterator<Item = &'r T>) -> Self {
        let columns = shared.columns().iter().chain(&T::table().written).copied().collect();
        let row = |record: &T| record.write(shared.args().clone());
        Self { columns, rows: records.into_iter().map(row).collect() }
    }
}

/// Collects rows, which must all have the same columns.
impl FromIterator<Values> for Bulk {
    fn from_iter<I: IntoIterator<Item = Values>>(rows: I) -> Self {
        let mut bulk = Self::default();
        for row in rows {
            if bulk.rows.is_empty() {
                bulk.columns = row.columns().to_vec();
            }
            debug_assert_eq!(bulk.columns, row.columns());
            bulk.rows.push(row.into_args());
        }
        bulk
    }
}

/// A bulk statement: the SQL before and after the list of rows.
pub(crate) struct Many {
    before: String,
    after: String,
}

impl Many {
    /// Creates an insert statement. `after` follows the rows: `ON CONFLICT …`, `RETURNING …`.
    pub(crate) fn insert(table: &str, columns: &[&str], after: &str) -> Self {
        Self { before: format!("INSERT INTO {table} ({})", columns.join(", ")), after: after.to_owned() }
    }

    /// Returns a statement that uses the rows as table `updates`.
    pub(crate) fn update(columns: &[&str], statement: &str) -> Self {
        let before = format!("WITH updates ({}) AS (", columns.join(", "));
        Self { before, after: format!(") {statement}") }
    }

    /// Returns `VALUES` with one placeholder per value, row by row. The placeholders are not numbered,
    /// because SQLite searches linearly for numbered ones.
    pub(crate) fn by_rows(&self, rows: Vec<Args>) -> (String, Args) {
        let Self { before, after } = self;
        let row = format!("({})", vec!["?"; rows.first().map_or(0, Args::len)].join(", "));
        let values = vec![row.as_str(); rows.len()].join(", ");
        (format!("{before} VALUES {values} {after}"), rows.into_iter().fold(Args::new(), Args::and))
    }

    /// Returns `UNNEST` with one placeholder per column, bound to an array. The statement text does not
    /// depend on the number of rows, so PostgreSQL parses it once.
    pub(crate) fn by_columns(&self, rows: Vec<Args>) -> Result<(String, PgArguments), StoreError> {
        let Self { before, after } = self;
        let (mut arguments, mut placeholders) = (PgArguments::default(), Vec::new());
        for (idx, column) in transpose(rows)?.into_iter().enumerate() {
            placeholders.push(format!("${}::{}[]", idx + 1, column.type_name()));
            column.add_to(&mut arguments)?;
        }
        let placeholders = placeholders.join(", ");
        Ok((format!("{before} SELECT * FROM UNNEST({placeholders}) {after}"), arguments))
    }
}

/// Splits rows into chunks that fit into one statement.
pub(crate) fn chunks(dialect: Dialect, rows: Vec<Args>) -> Vec<Vec<Args>> {
    let n_rows_max = match dialect {
        Dialect::Sqlite => (SQLITE_VALUES_MAX / rows.first().map_or(1, Args::len).max(1)).max(1),
        Dialect::Postgres => POSTGRES_ROWS_MAX,
    };
    let mut rows = rows.into_iter().peekable();
    let mut chunks = Vec::new();
    while rows.peek().is_some() {
        chunks.push(rows.by_ref().take(n_rows_max).collect());
    }
    chunks
}

enum Column {
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    Bools(Vec<Option<bool>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

impl Column {
    fn empty_like(value: &Arg) -> Self {
        match value {
            Arg::Int(_) => Self::Ints(Vec::new()),
            Arg::Text(_) => Self::Texts(Vec::new()),
            Arg::Bool(_) => Self::Bools(Vec::new()),
            Arg::Bytes(_) => Self::Bytes(Vec::new()),
        }
    }

    fn push(&mut self, value: Arg) -> Result<(), StoreError> {
        match (self, value) {
            (Self::Ints(column), Arg::Int(value)) => column.push(value),
            (Self::Texts(column), Arg::Text(value)) => column.push(value),
            (Self::Bools(column), Arg::Bool(value)) => column.push(value),
            (Self::Bytes(column), Arg::Bytes(value)) => column.push(value),
            _ => return Err(StoreError::Unstorable { what: "a column with mixed types".to_owned() }),
        }
        Ok(())
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Ints(_) => "BIGINT",
            Self::Texts(_) => "TEXT",
            Self::Bools(_) => "BOOLEAN",
            Self::Bytes(_) => "BYTEA",
        }
    }

    fn add_to(self, arguments: &mut PgArguments) -> Result<(), StoreError> {
        let result = match self {
            Self::Ints(column) => arguments.add(column),
            Self::Texts(column) => arguments.add(column),
            Self::Bools(column) => arguments.add(column),
            Self::Bytes(column) => arguments.add(column),
        };
        result.map_err(|error| StoreError::Database(sqlx::Error::Encode(error)))
    }
}

fn transpose(rows: Vec<Args>) -> Result<Vec<Column>, StoreError> {
    let mut columns: Vec<Column> = Vec::new();
    for row in rows {
        let values = row.into_values()?;
        if columns.is_empty() {
            columns = values.iter().map(Column::empty_like).collect();
        }
        for (column, value) in columns.iter_mut().zip(values) {
            column.push(value)?;
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert() -> Many {
        Many::insert("things", &["id", "name", "flag"], "RETURNING id")
    }

    fn rows(n_rows: i64) -> Vec<Args> {
        (0..n_rows).map(|id| Args::new().int(id).text("x").bool(true)).collect()
    }

    #[test]
    fn rows_for_sqlite_columns_for_postgres() {
        let (sql, args) = insert().by_rows(rows(2));
        assert_eq!(sql, "INSERT INTO things (id, name, flag) VALUES (?, ?, ?), (?, ?, ?) RETURNING id");
        assert_eq!(args.len(), 6);
        let (sql, _) = insert().by_columns(rows(2)).expect("columns");
        assert_eq!(
            sql,
            "INSERT INTO things (id, name, flag) SELECT * FROM UNNEST($1::BIGINT[], $2::TEXT[], $3::BOOLEAN[]) RETURNING id"
        );
    }

    #[test]
    fn unstorable_values_are_rejected() {
        let mixed = vec![Args::new().int(1), Args::new().text("x")];
        assert!(matches!(insert().by_columns(mixed), Err(StoreError::Unstorable { .. })));
        let nul = vec![Args::new().text("a\0b")];
        assert!(matches!(insert().by_columns(nul), Err(StoreError::Unstorable { .. })));
    }

    #[test]
    fn columns_of_a_bulk_statement_are_those_of_its_rows() {
        let bulk: Bulk = (0..2).map(|id| Values::new().set("id", &id).text("name", "x")).collect();
        assert_eq!((bulk.columns, bulk.rows.len()), (vec!["id", "name"], 2));
    }

    #[test]
    fn chunks_contain_all_rows() {
        for (dialect, n_rows) in [
            (Dialect::Sqlite, 0),
            (Dialect::Sqlite, 1),
            (Dialect::Sqlite, 160),
            (Dialect::Sqlite, 161),
            (Dialect::Postgres, 5001),
        ] {
            let chunks = chunks(dialect, rows(n_rows));
            assert_eq!(chunks.iter().map(Vec::len).sum::<usize>(), n_rows as usize);
            assert!(chunks.iter().all(|chunk| !chunk.is_empty()));
        }
    }
}
