//! Table metadata from which standard statements are generated.

use std::fmt::Write as _;

use super::{Columns, Row};
use crate::StoreError;

pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Name of a record in messages.
    pub(crate) noun: &'static str,
    /// Columns after `id` and `generation`, in the order in which records are written and read.
    pub(crate) columns: &'static [&'static str],
    /// Fields that lists can be sorted by.
    pub(crate) orders: &'static [&'static str],
}

/// A record with an id and a generation.
pub(crate) trait Record: Sized {
    const TABLE: Table;

    /// Reads `id`, `generation` and the columns of the table, in this order.
    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError>;

    fn from_row(row: &Row) -> Result<Self, StoreError> {
        Self::read(&mut row.columns(Self::TABLE.name))
    }
}

impl Table {
    pub(crate) fn select_sql(&self) -> String {
        format!("SELECT id, generation, {} FROM {}", self.columns.join(", "), self.name)
    }

    /// Inserts a row of generation 1. A duplicate key returns no row instead of an error, because an error
    /// would abort the transaction in PostgreSQL but not in SQLite.
    pub(crate) fn insert_sql(&self, conflict: &str) -> String {
        let mut sql =
            format!("INSERT INTO {} (generation, {}) VALUES (1", self.name, self.columns.join(", "));
        for index in 1..=self.columns.len() {
            let _ = write!(sql, ", ${index}");
        }
        let _ = write!(sql, ") ON CONFLICT {conflict} DO NOTHING RETURNING id");
        sql
    }

    /// Updates all columns if the row still has the expected generation. The arguments are the columns, the
    /// id and the generation.
    pub(crate) fn update_sql(&self) -> String {
        let mut sql = format!("UPDATE {} SET generation = generation + 1", self.name);
        for (index, column) in self.columns.iter().enumerate() {
            let _ = write!(sql, ", {column} = ${}", index + 1);
        }
        let n_columns = self.columns.len();
        let _ = write!(sql, " WHERE id = ${} AND generation = ${}", n_columns + 1, n_columns + 2);
        sql
    }
}
