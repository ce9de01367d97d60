//! What can go wrong with a stored thing, told apart by who must act.

use std::time::Duration;

use crate::sql::violation;

/// A legitimate no, an outage, or a bug; see the variants.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else has that name already.
    #[error("{what} is taken")]
    Taken { what: &'static str },
    /// Another change came first.
    #[error("changed meanwhile: its generation is {current}")]
    Stale { current: i64 },
    /// Something still stands on it.
    #[error("still in use by a {what}")]
    Referenced { what: &'static str },
    /// It, or what it refers to, is not there.
    #[error("there is no such {what}")]
    Missing { what: &'static str },
    /// Text that not every engine can keep.
    #[error("{what} cannot be stored")]
    Unstorable { what: String },
    /// A list cannot be ordered by that.
    #[error("cannot order by `{field}`; there are {}", known.join(", "))]
    UnknownOrder { field: String, known: &'static [&'static str] },
    /// The database is away, full or too slow. Trying again later helps.
    #[error("the database does not answer")]
    Unavailable(#[source] Outage),
    /// A row that this program cannot have written.
    #[error("`{table}.{column}` holds what nobody wrote: {detail}")]
    Corrupt { table: String, column: String, detail: String },
    /// A bug, or a database that does not have our tables.
    #[error("the database refused a statement")]
    Database(#[source] sqlx::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum Outage {
    #[error("no answer within {} ms", after.as_millis())]
    Slow { after: Duration },
    #[error(transparent)]
    Lost(sqlx::Error),
}

/// Codes of PostgreSQL after which the same thing may work: connections, resources, operator, locks, and a
/// transaction that an earlier error or too long a silence ended.
const PG_PASSING: &[&str] = &["08", "25006", "25P02", "25P03", "40001", "40P01", "53", "55P03", "57"];
const PG_UNSTORABLE: &[&str] = &["22021", "54000"];
/// Primary codes of SQLite: busy, locked, read-only, input and output, full, cannot open.
const SQLITE_PASSING: &[i32] = &[5, 6, 8, 10, 13, 14];
const SQLITE_TOO_BIG: i32 = 18;
const SQLITE_DAMAGED: &[i32] = &[11, 26];

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        match &error {
            E::Io(_) | E::Tls(_) | E::Protocol(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => {
                Self::Unavailable(Outage::Lost(error))
            }
            E::Database(inner) => match verdict(inner.as_ref()) {
                Verdict::Violation(violation) => violation,
                Verdict::Passing => Self::Unavailable(Outage::Lost(error)),
                Verdict::Other => Self::Database(error),
            },
            _ => Self::Database(error),
        }
    }
}

enum Verdict {
    Violation(StoreError),
    Passing,
    Other,
}

fn verdict(error: &dyn sqlx::error::DatabaseError) -> Verdict {
    if let Some(found) = violation::explain(error) {
        return Verdict::Violation(found);
    }
    let code = error.code().unwrap_or_default();
    if error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
        if PG_UNSTORABLE.contains(&code.as_ref()) {
            return Verdict::Violation(StoreError::Unstorable { what: "a text".to_owned() });
        }
        let passing = PG_PASSING.iter().any(|prefix| code.starts_with(prefix));
        return if passing { Verdict::Passing } else { Verdict::Other };
    }
    let primary = code.parse::<i32>().unwrap_or_default() & 0xff;
    if primary == SQLITE_TOO_BIG {
        return Verdict::Violation(StoreError::Unstorable { what: "a text of that length".to_owned() });
    }
    if SQLITE_DAMAGED.contains(&primary) {
        return Verdict::Violation(StoreError::Corrupt {
            table: "sqlite".to_owned(),
            column: "file".to_owned(),
            detail: error.message().to_owned(),
        });
    }
    if SQLITE_PASSING.contains(&primary) { Verdict::Passing } else { Verdict::Other }
}
