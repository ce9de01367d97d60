//! A thin layer over sqlx that hides the difference between the engines: arguments, rows, records, lists.
//!
//! Each statement is written once, with `$1` placeholders. Engine-specific SQL is confined to this module and
//! to [`Session`](crate::Session) helpers; the modules of record types contain none.

pub(crate) mod args;
mod classify;
pub(crate) mod list;
pub(crate) mod many;
pub(crate) mod record;
pub(crate) mod row;
pub(crate) mod select;
pub(crate) mod value;
pub(crate) mod values;
pub(crate) mod violation;

pub(crate) use args::{Args, is_key};
pub(crate) use many::Bulk;
pub(crate) use record::{Column, Fields, Record, Table, record};
pub(crate) use row::{Cell, Cells, Row, read_all, read_column, read_pairs};
pub(crate) use select::Select;
pub(crate) use value::{Scalar, Value};
pub(crate) use values::Values;

/// SQL dialect of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}
