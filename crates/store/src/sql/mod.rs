//! A thin layer over sqlx that hides the difference between the engines: arguments, rows, tables, lists.
//!
//! Each statement is written once, with `$1` placeholders. Engine-specific SQL is confined to this module and
//! to [`Session`](crate::Session) helpers; the modules of record types contain none.

pub(crate) mod args;
pub(crate) mod list;
pub(crate) mod many;
pub(crate) mod row;
pub(crate) mod select;
pub(crate) mod table;
pub(crate) mod violation;

pub(crate) use args::{Args, is_key};
pub(crate) use many::Many;
pub(crate) use row::{Columns, Row};
pub(crate) use select::Select;
pub(crate) use table::{Record, Table};

/// SQL dialect of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}
