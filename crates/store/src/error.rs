//! Store errors, classified by what the caller can do about them.

use std::time::Duration;

/// The cause of an error.
pub(crate) type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Error of the store: a rejected change, an outage or a bug.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique key is taken by another row.
    #[error("{what} is taken")]
    AlreadyExists { what: &'static str },
    /// Optimistic concurrency conflict: the row changed after it was read.
    #[error("concurrent modification: the current generation is {current}")]
    Stale { current: i64 },
    /// The row cannot be deleted because other rows reference it.
    #[error("still in use by a {what}")]
    Referenced { what: &'static str },
    /// The row, or a row it references, does not exist.
    #[error("there is no such {what}")]
    NotFound { what: &'static str },
    /// A value that not every supported engine can store.
    #[error("{what} cannot be stored")]
    Unstorable { what: String },
    /// The list cannot be sorted by that field.
    #[error("cannot order by `{field}`; supported fields are {}", supported.join(", "))]
    UnknownSortField { field: String, supported: &'static [&'static str] },
    /// The database is unreachable, full or too slow. Transient: a retry may succeed.
    #[error("the database is unavailable")]
    Unavailable(#[source] Outage),
    /// A row contains data that this program cannot have written.
    #[error("`{table}.{column}` contains invalid data")]
    Corrupt {
        table: String,
        column: String,
        #[source]
        source: BoxedError,
    },
    /// A bug, or a database without Stoker's tables.
    #[error("the database rejected a statement")]
    Database(#[source] sqlx::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum Outage {
    #[error("no response within {} ms", after.as_millis())]
    Timeout { after: Duration },
    #[error(transparent)]
    Connection(sqlx::Error),
}
