//! Store errors, classified by what the caller can do about them.

use std::time::Duration;

use crate::sql::violation;

/// A rejected change, an outage or a bug; see the variants.
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
    #[error("cannot order by `{field}`; supported fields are {}", known.join(", "))]
    UnknownSortField { field: String, known: &'static [&'static str] },
    /// The database is unreachable, full or too slow. Transient: a retry may succeed.
    #[error("the database does not answer")]
    Unavailable(#[source] Outage),
    /// A row contains data that this program cannot have written.
    #[error("`{table}.{column}` contains invalid data: {detail}")]
    Corrupt { table: String, column: String, detail: String },
    /// A bug, or a database without Stoker's tables.
    #[error("the database rejected a statement")]
    Database(#[source] sqlx::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum Outage {
    #[error("no answer within {} ms", after.as_millis())]
    Timeout { after: Duration },
    #[error(transparent)]
    Connection(sqlx::Error),
}

/// PostgreSQL error codes and class prefixes that are transient: connection, resource, operator intervention
/// and lock errors, and transactions ended by an earlier error or by the idle timeout.
const PG_TRANSIENT: &[&str] = &["08", "25006", "25P02", "25P03", "40001", "40P01", "53", "55P03", "57"];
const PG_UNSTORABLE: &[&str] = &["22021", "54000"];
/// Transient primary result codes of SQLite: busy, locked, read-only, I/O error, full, cannot open.
const SQLITE_TRANSIENT: &[i32] = &[5, 6, 8, 10, 13, 14];
const SQLITE_TOO_BIG: i32 = 18;
const SQLITE_CORRUPT: &[i32] = &[11, 26];

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        match &error {
            E::Io(_) | E::Tls(_) | E::Protocol(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => {
                Self::Unavailable(Outage::Connection(error))
            }
            E::Database(inner) => match classify(inner.as_ref()) {
                ErrorClass::Violation(violation) => violation,
                ErrorClass::Transient => Self::Unavailable(Outage::Connection(error)),
                ErrorClass::Other => Self::Database(error),
            },
            _ => Self::Database(error),
        }
    }
}

enum ErrorClass {
    Violation(StoreError),
    Transient,
    Other,
}

fn classify(error: &dyn sqlx::error::DatabaseError) -> ErrorClass {
    if let Some(violation) = violation::explain(error) {
        return ErrorClass::Violation(violation);
    }
    let code = error.code().unwrap_or_default();
    if error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
        if PG_UNSTORABLE.contains(&code.as_ref()) {
            return ErrorClass::Violation(StoreError::Unstorable { what: "a text".to_owned() });
        }
        let is_transient = PG_TRANSIENT.iter().any(|prefix| code.starts_with(prefix));
        return if is_transient { ErrorClass::Transient } else { ErrorClass::Other };
    }
    let primary = code.parse::<i32>().unwrap_or_default() & 0xff;
    if primary == SQLITE_TOO_BIG {
        return ErrorClass::Violation(StoreError::Unstorable { what: "a text of that length".to_owned() });
    }
    if SQLITE_CORRUPT.contains(&primary) {
        return ErrorClass::Violation(StoreError::Corrupt {
            table: "sqlite".to_owned(),
            column: "file".to_owned(),
            detail: error.message().to_owned(),
        });
    }
    if SQLITE_TRANSIENT.contains(&primary) { ErrorClass::Transient } else { ErrorClass::Other }
}
