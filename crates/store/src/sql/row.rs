//! A result row of either engine, read column by column in select order.

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Column as _, Row as _};
use stoker_model::{Json, JsonMap, Micros};

use crate::StoreError;

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
    pub(crate) fn columns(&self, table: &'static str) -> Columns<'_> {
        Columns { row: self, table, next: 0 }
    }
}

/// Cursor over the columns of a row. Each method reads one column and advances, so a struct literal reads a
/// record in order.
pub(crate) struct Columns<'r> {
    row: &'r Row,
    table: &'static str,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(crate) fn int(&mut self) -> Result<i64, StoreError> {
        let index = self.advance();
        of_row!(self.row, row => row.try_get(index)).map_err(|error| self.unreadable(index, &error))
    }

    pub(crate) fn opt_int(&mut self) -> Result<Option<i64>, StoreError> {
        let index = self.advance();
        of_row!(self.row, row => row.try_get(index)).map_err(|error| self.unreadable(index, &error))
    }

    pub(crate) fn bool(&mut self) -> Result<bool, StoreError> {
        let index = self.advance();
        of_row!(self.row, row => row.try_get(index)).map_err(|error| self.unreadable(index, &error))
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        let index = self.advance();
        of_row!(self.row, row => row.try_get(index)).map_err(|error| self.unreadable(index, &error))
    }

    pub(crate) fn opt_str(&mut self) -> Result<Option<&'r str>, StoreError> {
        let index = self.advance();
        of_row!(self.row, row => row.try_get(index)).map_err(|error| self.unreadable(index, &error))
    }

    pub(crate) fn str(&mut self) -> Result<&'r str, StoreError> {
        let index = self.next;
        self.opt_str()?.ok_or_else(|| self.corrupt(index, "null".to_owned()))
    }

    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.str().map(str::to_owned)
    }

    pub(crate) fn opt_text(&mut self) -> Result<Option<String>, StoreError> {
        Ok(self.opt_str()?.map(str::to_owned))
    }

    pub(crate) fn time(&mut self) -> Result<Micros, StoreError> {
        self.int().map(Micros)
    }

    pub(crate) fn opt_time(&mut self) -> Result<Option<Micros>, StoreError> {
        Ok(self.opt_int()?.map(Micros))
    }

    pub(crate) fn json(&mut self) -> Result<Json, StoreError> {
        let index = self.next;
        let text = self.str()?;
        serde_json::from_str(text).map_err(|error| self.corrupt(index, error.to_string()))
    }

    pub(crate) fn map(&mut self) -> Result<JsonMap, StoreError> {
        let index = self.next;
        let text = self.str()?;
        serde_json::from_str(text).map_err(|error| self.corrupt(index, error.to_string()))
    }

    pub(crate) fn opt_map(&mut self) -> Result<Option<JsonMap>, StoreError> {
        let index = self.next;
        let parsed = self.opt_str()?.map(serde_json::from_str).transpose();
        parsed.map_err(|error: serde_json::Error| self.corrupt(index, error.to_string()))
    }

    pub(crate) fn documents(&mut self) -> Result<Vec<Json>, StoreError> {
        let index = self.next;
        let text = self.str()?;
        serde_json::from_str(text).map_err(|error| self.corrupt(index, error.to_string()))
    }

    pub(crate) fn strings(&mut self) -> Result<Vec<String>, StoreError> {
        let index = self.next;
        let text = self.str()?;
        serde_json::from_str(text).map_err(|error| self.corrupt(index, error.to_string()))
    }

    /// A text that `parse` maps to an enum variant or validated type.
    pub(crate) fn word<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<T, StoreError> {
        let index = self.next;
        let text = self.str()?;
        parse(text).ok_or_else(|| self.corrupt(index, format!("unknown value `{text}`")))
    }

    pub(crate) fn opt_word<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<Option<T>, StoreError> {
        let index = self.next;
        let Some(text) = self.opt_str()? else { return Ok(None) };
        match parse(text) {
            Some(word) => Ok(Some(word)),
            None => Err(self.corrupt(index, format!("unknown value `{text}`"))),
        }
    }

    /// Corruption error for the column read last.
    pub(crate) fn corrupt_last(&self, detail: String) -> StoreError {
        self.corrupt(self.next.saturating_sub(1), detail)
    }

    fn advance(&mut self) -> usize {
        let index = self.next;
        self.next += 1;
        index
    }

    fn unreadable(&self, index: usize, error: &sqlx::Error) -> StoreError {
        self.corrupt(index, error.to_string())
    }

    fn corrupt(&self, index: usize, detail: String) -> StoreError {
        let column =
            of_row!(self.row, row => row.columns().get(index).map(|column| column.name().to_owned()));
        let column = column.unwrap_or_else(|| format!("#{index}"));
        StoreError::Corrupt { table: self.table.to_owned(), column, detail }
    }
}
