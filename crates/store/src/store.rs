//! Entry point of the store: connection pools, sessions and write transactions.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use sqlx::{PgPool, SqlitePool};
use stoker_model::{Actor, Micros};
use tokio::sync::Semaphore;

use crate::connection::{Connection, Handle, Timeouts, with_timeout};
use crate::observer::{Observed, Observer, Operation, observe};
use crate::sql::Args;
use crate::task_cache::TaskCache;
use crate::{Session, StoreError, WriteTransaction};

/// Database to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite { path: PathBuf },
    Postgres { url: String },
}

/// PostgreSQL advisory lock that serializes the writers of all servers, like the single writer of SQLite: the
/// data that a writer reads cannot change before it writes. Write transactions are short; readers never wait
/// for this lock. `docs/decisions/0006-one-writer-at-a-time.md` describes its cost and the reasons for it.
const WRITERS_LOCK: i64 = 0x5374_6f6b_6572;
/// Maximum number of writers of this process that hold a PostgreSQL connection: one works while the next
/// waits for the writer lock. Other writers queue for a permit. If each of them waited for the lock with a
/// connection, no connections would be left for readers.
const WRITERS_MAX: usize = 2;
/// Idle-in-transaction timeout of a writer in milliseconds. A hung process loses the writer lock, for which
/// all other writers wait.
const WRITER_SILENCE_MS: u32 = 5000;

#[derive(Clone)]
pub(crate) enum Db {
    /// SQLite allows one writer at a time. Queueing for a pool of one connection is fairer than retrying on
    /// `SQLITE_BUSY`.
    Sqlite {
        readers: SqlitePool,
        writer: SqlitePool,
    },
    Pg {
        pool: PgPool,
        writers: Arc<Semaphore>,
    },
}

impl Db {
    pub(crate) fn postgres(pool: PgPool) -> Self {
        Self::Pg { pool, writers: Arc::new(Semaphore::new(WRITERS_MAX)) }
    }
}

/// Database handle with a cache of tasks. Clones share pools and cache.
#[derive(Clone)]
pub struct Store {
    pub(crate) db: Db,
    pub(crate) patience: Timeouts,
    cache: Arc<TaskCache>,
    observer: Arc<OnceLock<Arc<dyn Observer>>>,
}

impl Store {
    pub(crate) fn new(db: Db, patience: Timeouts) -> Self {
        Self { db, patience, cache: Arc::new(TaskCache::default()), observer: Arc::default() }
    }

    /// Installs an observer of database operations. Only the first call has an effect.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        _ = self.observer.set(observer);
    }

    /// Returns the name, size and number of idle connections of each pool.
    pub fn pools(&self) -> Vec<(&'static str, usize, usize)> {
        match &self.db {
            Db::Sqlite { readers, writer } => vec![
                ("readers", readers.size() as usize, readers.num_idle()),
                ("writer", writer.size() as usize, writer.num_idle()),
            ],
            Db::Pg { pool, .. } => vec![("postgres", pool.size() as usize, pool.num_idle())],
        }
    }

    /// Returns a connection without a transaction: each statement sees the newest state.
    pub async fn read(&self) -> Result<Session, StoreError> {
        self.session(Purpose::Read).await
    }

    /// Begins a read-only transaction: all reads see one consistent snapshot.
    pub async fn snapshot(&self) -> Result<Session, StoreError> {
        self.session(Purpose::Snapshot).await
    }

    /// Begins a write transaction on behalf of `actor`.
    pub async fn begin_write(&self, actor: &Actor, now: Micros) -> Result<WriteTransaction, StoreError> {
        Ok(WriteTransaction::new(self.session(Purpose::Write).await?, actor.clone(), now))
    }

    /// Checks that the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let mut session = self.read().await?;
        session.connection.fetch_optional("SELECT 1".to_owned(), Args::new()).await?;
        Ok(())
    }

    /// Waits for sessions in flight, then closes the pools.
    pub async fn close(&self) {
        match &self.db {
            Db::Sqlite { readers, writer } => {
                readers.close().await;
                writer.close().await;
            }
            Db::Pg { pool, .. } => pool.close().await,
        }
    }

    async fn session(&self, purpose: Purpose) -> Result<Session, StoreError> {
        // Overall timeout: the timeouts of the pools do not cover every wait, such as a stalled handshake.
        let after = self.patience.acquire.saturating_add(self.patience.statement);
        let observer: Observed = self.observer.get().cloned();
        let connect = with_timeout(after, self.connect(purpose, observer.clone()));
        // Boxed to keep the futures of callers small: this future is large and awaited in many places.
        let connection = Box::pin(observe(&observer, Operation::Connect, connect)).await?;
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
            Db::Pg { pool, writers } => {
                let permit = match purpose {
                    Purpose::Read | Purpose::Snapshot => None,
                    Purpose::Write => {
                        let permit = async { Ok(Arc::clone(writers).acquire_owned().await.ok()) };
                        with_timeout(self.patience.acquire, permit).await?
                    }
                };
                let begin = match purpose {
                    Purpose::Read => None,
                    Purpose::Snapshot => Some("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
                    Purpose::Write => Some("BEGIN"),
                };
                let handle = Handle::acquire(pool, begin).await?;
                let mut connection = Connection::postgres(handle, permit, self.patience, observer);
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
