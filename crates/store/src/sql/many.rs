//! Bulk statements: many rows per statement.

use sqlx::Arguments as _;
use sqlx::postgres::PgArguments;

use super::Dialect;
use super::args::{Arg, Args};
use crate::StoreError;

/// Maximum number of values in a SQLite statement. Prepared statements are cached, and longer ones take more
/// memory.
const SQLITE_VALUES_MAX: usize = 480;
/// Maximum number of rows in a PostgreSQL statement; more would only take memory.
const POSTGRES_ROWS_MAX: usize = 5000;

/// A bulk statement: the SQL before and after the list of rows.
#[derive(Clone, Copy)]
pub(crate) struct Many<'a> {
    pub(crate) before: &'a str,
    pub(crate) after: &'a str,
}

impl Many<'_> {
    /// `VALUES` with one placeholder per value, row by row. The placeholders are not numbered because SQLite
    /// searches linearly for numbered ones.
    pub(crate) fn by_rows(&self, rows: Vec<Args>) -> (String, Args) {
        let Self { before, after } = self;
        let row = format!("({})", vec!["?"; rows.first().map_or(0, Args::len)].join(", "));
        let values = vec![row.as_str(); rows.len()].join(", ");
        (format!("{before} VALUES {values} {after}"), rows.into_iter().fold(Args::new(), Args::and))
    }

    /// `UNNEST` with one placeholder per column, bound to an array. The statement text does not depend on the
    /// number of rows, so PostgreSQL parses it once.
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
    Bools(Vec<bool>),
    Bytes(Vec<Vec<u8>>),
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

    const INSERT: Many<'_> = Many { before: "INSERT INTO things (id, name, flag)", after: "RETURNING id" };

    fn rows(n_rows: i64) -> Vec<Args> {
        (0..n_rows).map(|id| Args::new().int(id).text("x").bool(true)).collect()
    }

    #[test]
    fn rows_for_sqlite_columns_for_postgres() {
        let (sql, args) = INSERT.by_rows(rows(2));
        assert_eq!(sql, "INSERT INTO things (id, name, flag) VALUES (?, ?, ?), (?, ?, ?) RETURNING id");
        assert_eq!(args.len(), 6);
        let (sql, _) = INSERT.by_columns(rows(2)).expect("columns");
        assert_eq!(
            sql,
            "INSERT INTO things (id, name, flag) SELECT * FROM UNNEST($1::BIGINT[], $2::TEXT[], $3::BOOLEAN[]) RETURNING id"
        );
    }

    #[test]
    fn unstorable_values_are_rejected() {
        let mixed = vec![Args::new().int(1), Args::new().text("x")];
        assert!(matches!(INSERT.by_columns(mixed), Err(StoreError::Unstorable { .. })));
        let nul = vec![Args::new().text("a\0b")];
        assert!(matches!(INSERT.by_columns(nul), Err(StoreError::Unstorable { .. })));
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
