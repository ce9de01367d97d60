//! The front of the store: where sessions come from.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::{PgPool, SqlitePool};
use stoker_model::{Actor, Micros};

use crate::connection::{Connection, Handle, in_time};
use crate::graphs::TaskCache;
use crate::observer::{Observed, Observer, Operation, observed};
use crate::sql::Args;
use crate::{Session, StoreError, Writing};

/// Which database, as a user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite { path: PathBuf },
    Postgres { url: String },
}

/// Writers of all servers take turns, as those of the embedded engine do: what a writer read is still true when it
/// writes. Changes are short; reading waits for nobody.
const WRITERS_LOCK: i64 = 0x5374_6f6b_6572;
/// A writer that says nothing for longer, because its program hangs, loses its turn: all others wait for it.
const WRITER_SILENCE_MS: u32 = 5000;

/// How long a caller waits at most before it is told that the database does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a connection, or for its turn to write.
    pub connection: Duration,
    /// For the answer to one statement.
    pub statement: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connection: Duration::from_secs(10), statement: Duration::from_secs(30) }
    }
}

#[derive(Clone)]
pub(crate) enum Db {
    /// SQLite has one writer at a time; waiting for it in line is fairer than trying again and again.
    Sqlite {
        readers: SqlitePool,
        writer: SqlitePool,
    },
    Pg(PgPool),
}

/// The database and what is remembered of it. Copies share everything.
#[derive(Clone)]
pub struct Store {
    pub(crate) db: Db,
    pub(crate) patience: Patience,
    cache: Arc<TaskCache>,
    observer: Arc<OnceLock<Arc<dyn Observer>>>,
}

impl Store {
    pub(crate) fn new(db: Db, patience: Patience) -> Self {
        Self { db, patience, cache: Arc::new(TaskCache::default()), observer: Arc::default() }
    }

    /// Has somebody watch what is asked of the database from now on; the first one stays.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        _ = self.observer.set(observer);
    }

    /// Connections by pool: its name, how many there are, how many of them are idle.
    pub fn pools(&self) -> Vec<(&'static str, usize, usize)> {
        match &self.db {
            Db::Sqlite { readers, writer } => vec![
                ("readers", readers.size() as usize, readers.num_idle()),
                ("writer", writer.size() as usize, writer.num_idle()),
            ],
            Db::Pg(pool) => vec![("postgres", pool.size() as usize, pool.num_idle())],
        }
    }

    /// A connection without a transaction: each statement sees the newest state.
    pub async fn read(&self) -> Result<Session, StoreError> {
        self.session(Purpose::Read).await
    }

    /// Everything that is read through it is of one moment.
    pub async fn snapshot(&self) -> Result<Session, StoreError> {
        self.session(Purpose::Snapshot).await
    }

    /// A transaction that changes things on behalf of `actor`.
    pub async fn change(&self, actor: &Actor, now: Micros) -> Result<Writing, StoreError> {
        Ok(Writing::new(self.session(Purpose::Write).await?, actor.clone(), now))
    }

    /// Whether the database answers at all.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let mut session = self.read().await?;
        session.connection.fetch_optional("SELECT 1".to_owned(), Args::new()).await?;
        Ok(())
    }

    /// Waits for sessions under way and closes the files or sockets.
    pub async fn close(&self) {
        match &self.db {
            Db::Sqlite { readers, writer } => {
                readers.close().await;
                writer.close().await;
            }
            Db::Pg(pool) => pool.close().await,
        }
    }

    async fn session(&self, purpose: Purpose) -> Result<Session, StoreError> {
        // The pools have limits too; this one holds also where a pool waits for something else.
        let after = self.patience.connection.saturating_add(self.patience.statement);
        let observer: Observed = self.observer.get().cloned();
        let connect = in_time(after, self.connect(purpose, observer.clone()));
        // Whoever waits for it does so deep inside of other work, whose size this would add to each time.
        let connection = Box::pin(observed(&observer, Operation::Connect, connect)).await?;
        let is_settled = purpose != Purpose::Write;
        Ok(Session { connection, cache: Arc::clone(&self.cache), is_settled })
    }

    async fn connect(&self, purpose: Purpose, observer: Observed) -> Result<Connection, StoreError> {
        match &self.db {
            Db::Sqlite { readers, writer } => {
                let (pool, begin) = match purpose {
                    Purpose::Read => (readers, None),
                    Purpose::Snapshot => (readers, Some("BEGIN DEFERRED")),
                    Purpose::Write => (writer, Some("BEGIN IMMEDIATE")),
                };
                Ok(Connection::sqlite(Handle::acquire(pool, begin).await?, self.patience, observer))
            }
            Db::Pg(pool) => {
                let begin = match purpose {
                    Purpose::Read => None,
                    Purpose::Snapshot => Some("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
                    Purpose::Write => Some("BEGIN"),
                };
                let handle = Handle::acquire(pool, begin).await?;
                let mut connection = Connection::postgres(handle, self.patience, observer);
                if purpose == Purpose::Write {
                    let lock = format!(
                        "SELECT 1 FROM (SELECT set_config('idle_in_transaction_session_timeout', \
                         '{WRITER_SILENCE_MS}', true), pg_advisory_xact_lock({WRITERS_LOCK})) AS turn"
                    );
                    connection.fetch_optional(lock, Args::new()).await?;
                }
                Ok(connection)
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Read,
    Snapshot,
    Write,
}
