//! A result row of either engine. Columns are read by name, never by position.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

use super::{Fields, Record, Value};
use crate::StoreError;
use crate::error::BoxedError;

pub(crate) enum Row {
    Sqlite(SqliteRow),
    Pg(PgRow),
}

/// Expands one body for a row of either engine.
macro_rules! of_row {
    ($row:expr, $inner:ident => $body:expr) => {
        match $row {
            Row::Sqlite($inner) => $body,
            Row::Pg($inner) => $body,
        }
    };
}

impl Row {
    /// Reads one column.
    pub(crate) fn get<T: Value>(&self, table: &'static str, column: &str) -> Result<T, StoreError> {
        let index = self.index_of(table, 0, "", column)?;
        T::read(Cell { row: self, table, index })
    }

    /// Reads a record from a select list that contains its columns.
    pub(crate) fn read<T: Record>(&self) -> Result<T, StoreError> {
        self.read_prefixed("")
    }

    /// Reads a record from columns whose names have a prefix.
    pub(crate) fn read_prefixed<T: Record>(&self, prefix: &str) -> Result<T, StoreError> {
        let table = T::table();
        Layout::resolve(self, table.name, &table.columns, prefix)?.read(self)
    }

    /// Returns the index of a column. A generated select list has its columns in order, so the guess is
    /// usually right and no lookup is needed.
    fn index_of(
        &self,
        table: &'static str,
        guess: usize,
        prefix: &str,
        column: &str,
    ) -> Result<usize, StoreError> {
        if self.name_of(guess).and_then(|name| name.strip_prefix(prefix)) == Some(column) {
            return Ok(guess);
        }
        let name = format!("{prefix}{column}");
        let position = of_row!(self, row => row.try_column(name.as_str()).map(sqlx::Column::ordinal));
        position.map_err(|error| StoreError::Corrupt {
            table: table.to_owned(),
            column: column.to_owned(),
            source: error.into(),
        })
    }

    fn name_of(&self, index: usize) -> Option<&str> {
        of_row!(self, row => row.columns().get(index).map(sqlx::Column::name))
    }
}

/// Reads all rows of a statement. Column names are resolved once.
pub(crate) fn read_all<T: Record>(rows: &[Row]) -> Result<Vec<T>, StoreError> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let table = T::table();
    let layout = Layout::resolve(first, table.name, &table.columns, "")?;
    rows.iter().map(|row| layout.read(row)).collect()
}

/// Reads one column of all rows.
pub(crate) fn read_column<T: Value, C: FromIterator<T>>(
    rows: &[Row],
    table: &'static str,
    column: &str,
) -> Result<C, StoreError> {
    let Some(first) = rows.first() else { return Ok(C::from_iter([])) };
    let index = first.index_of(table, 0, "", column)?;
    rows.iter().map(|row| T::read(Cell { row, table, index })).collect()
}

/// Reads two columns of all rows.
pub(crate) fn read_pairs<A: Value, B: Value, C: FromIterator<(A, B)>>(
    rows: &[Row],
    table: &'static str,
    [first_column, second_column]: [&str; 2],
) -> Result<C, StoreError> {
    let Some(first) = rows.first() else { return Ok(C::from_iter([])) };
    let indexes = (first.index_of(table, 0, "", first_column)?, first.index_of(table, 1, "", second_column)?);
    let read = |row| {
        let cell = |index| Cell { row, table, index };
        Ok((A::read(cell(indexes.0))?, B::read(cell(indexes.1))?))
    };
    rows.iter().map(read).collect()
}

/// Indexes of the columns of a record in the rows of one statement.
struct Layout {
    table: &'static str,
    indexes: Vec<usize>,
}

impl Layout {
    fn resolve(row: &Row, table: &'static str, columns: &[&str], prefix: &str) -> Result<Self, StoreError> {
        let mut indexes: Vec<usize> = Vec::with_capacity(columns.len());
        for column in columns {
            let guess = indexes.last().map_or(0, |index| index + 1);
            indexes.push(row.index_of(table, guess, prefix, column)?);
        }
        Ok(Self { table, indexes })
    }

    fn read<T: Fields>(&self, row: &Row) -> Result<T, StoreError> {
        T::read(&mut Cells { row, table: self.table, indexes: self.indexes.iter() })
    }
}

/// The values of a record in one row, in the order of the columns of the record.
pub(crate) struct Cells<'r> {
    row: &'r Row,
    table: &'static str,
    indexes: std::slice::Iter<'r, usize>,
}

impl<'r> Cells<'r> {
    pub(crate) fn value<T: Value>(&mut self) -> Result<T, StoreError> {
        T::read(self.cell()?)
    }

    pub(crate) fn cell(&mut self) -> Result<Cell<'r>, StoreError> {
        // Both the indexes and the reads are derived from the list of columns, so they have the same length.
        let index = self.indexes.next().copied().ok_or(StoreError::NotFound { what: "column" })?;
        Ok(Cell { row: self.row, table: self.table, index })
    }
}

/// The value of one column in one row; `None` is NULL.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'r> {
    row: &'r Row,
    table: &'static str,
    index: usize,
}

impl<'r> Cell<'r> {
    pub(crate) fn int(self) -> Result<Option<i64>, StoreError> {
        of_row!(self.row, row => row.try_get(self.index)).map_err(|error| self.corrupt(error))
    }

    pub(crate) fn bool(self) -> Result<Option<bool>, StoreError> {
        of_row!(self.row, row => row.try_get(self.index)).map_err(|error| self.corrupt(error))
    }

    pub(crate) fn bytes(self) -> Result<Option<Vec<u8>>, StoreError> {
        of_row!(self.row, row => row.try_get(self.index)).map_err(|error| self.corrupt(error))
    }

    pub(crate) fn str(self) -> Result<Option<&'r str>, StoreError> {
        of_row!(self.row, row => row.try_get(self.index)).map_err(|error| self.corrupt(error))
    }

    /// Reads a text and converts it with `parse`.
    pub(crate) fn parse<T, E: Into<BoxedError>>(
        self,
        parse: impl FnOnce(&'r str) -> Result<T, E>,
    ) -> Result<Option<T>, StoreError> {
        self.str()?.map(parse).transpose().map_err(|error| self.corrupt(error))
    }

    pub(crate) fn corrupt(self, source: impl Into<BoxedError>) -> StoreError {
        StoreError::Corrupt {
            table: self.table.to_owned(),
            column: self.row.name_of(self.index).unwrap_or_default().to_owned(),
            source: source.into(),
        }
    }
}
