//! A thin layer over sqlx that is the same for both engines: arguments, rows, tables, lists.
//!
//! Each statement is written once, with `$1` placeholders. Where the engines differ it is said here or behind a
//! method of the session, never in an aggregate.

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

/// Which engine a statement is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}
