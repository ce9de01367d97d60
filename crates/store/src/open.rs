//! Opens a database: creates it if missing and applies pending migrations.

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgPool, SqlitePool};

use crate::backup::create_private;
use crate::connection::with_timeout;
use crate::migrations::{self, POSTGRES, SQLITE, newest_version};
use crate::store::Db;
use crate::{Database, Store, StoreError, Timeouts};

const READERS_MAX: u32 = 8;
const PG_CONNECTIONS_MAX: u32 = 16;
/// SQLite busy timeout. Another process, such as a backup or the shell of an operator, may hold the lock
/// briefly.
const BUSY: Duration = Duration::from_secs(5);

/// Number of rows that the worker thread of a SQLite connection buffers ahead. Sufficient for a large graph
/// without a context switch per row.
const ROWS_AHEAD: usize = 512;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The schema was written by a later version of this program.
    #[error(
        "the database schema is version {database}, but this program supports up to {supported}; use a newer `stoker`"
    )]
    SchemaTooNew { database: i64, supported: i64 },
    /// The file is not a database, its directory does not exist, or the URL is invalid.
    #[error("cannot open {what}")]
    CannotOpen {
        what: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("cannot migrate the database schema")]
    Migration(#[source] MigrateError),
    #[error("cannot open the database")]
    Store(#[from] StoreError),
}

impl Store {
    /// Creates the database if missing and applies pending migrations. Safe to call from several processes
    /// concurrently.
    pub async fn open(database: &Database) -> Result<Self, OpenError> {
        Self::open_with(database, Timeouts::default()).await
    }

    pub async fn open_with(database: &Database, patience: Timeouts) -> Result<Self, OpenError> {
        let db = match database {
            Database::Sqlite { path } => open_sqlite(path, patience).await?,
            Database::Postgres { url } => open_postgres(url, patience).await?,
        };
        let store = Self::new(db, patience);
        if let Err(error) = migrate(&store).await {
            store.close().await;
            return Err(error);
        }
        Ok(store)
    }
}

pub(crate) fn sqlite_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        // Results acknowledged to agents must survive power loss, so every commit is fsynced. Callers with
        // many writes batch them.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY)
        .row_buffer_size(ROWS_AHEAD)
        .disable_statement_logging()
}

async fn open_sqlite(path: &Path, patience: Timeouts) -> Result<Db, OpenError> {
    match create_private(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(cannot_open(format!("`{}`", path.display()), error));
        }
        _ => {}
    }
    let options = sqlite_options(path);
    let pool = || SqlitePoolOptions::new().acquire_timeout(patience.acquire).test_before_acquire(false);
    let connect = async |pool: SqlitePoolOptions, options| {
        let connected: Result<SqlitePool, sqlx::Error> = pool.connect_with(options).await;
        connected.map_err(|source| cannot_open(format!("`{}`", path.display()), source))
    };
    let writer = connect(pool().max_connections(1), options.clone()).await?;
    // Readers reject writes, so a misplaced statement cannot bypass the single writer.
    let read_only = options.pragma("query_only", "ON");
    let readers = connect(pool().max_connections(READERS_MAX), read_only).await?;
    Ok(Db::Sqlite { readers, writer })
}

async fn open_postgres(url: &str, patience: Timeouts) -> Result<Db, OpenError> {
    let options: PgConnectOptions =
        url.parse().map_err(|source: sqlx::Error| cannot_open("the database URL".to_owned(), source))?;
    let options = options.application_name("stoker").disable_statement_logging();
    let statement_ms = patience.statement.as_millis();
    // PostgreSQL cancels a statement no later than the client-side timeout, and releases the locks of a
    // process that hangs inside a transaction.
    let limits = format!(
        "SET statement_timeout = {statement_ms}; SET idle_in_transaction_session_timeout = {};",
        statement_ms * 2
    );
    let pool = PgPoolOptions::new()
        .max_connections(PG_CONNECTIONS_MAX)
        .acquire_timeout(patience.acquire)
        .after_connect(move |connection, _| {
            let limits = sqlx::AssertSqlSafe(limits.clone());
            Box::pin(async move { connection.execute(limits).await.map(drop) })
        })
        // Flushes a pending rollback. A connection that does not respond to the ping is closed instead of
        // being reused.
        .after_release(move |connection, _| {
            Box::pin(async move {
                let answer = tokio::time::timeout(patience.acquire, connection.ping()).await;
                answer.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map(|()| true)
            })
        });
    let connecting = with_timeout(patience.acquire.saturating_mul(2), async {
        Ok::<PgPool, StoreError>(pool.connect_with(options).await?)
    });
    Ok(Db::postgres(connecting.await?))
}

async fn migrate(store: &Store) -> Result<(), OpenError> {
    match migrations::apply(&store.db).await {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(database)) => {
            let migrator = match store.db {
                Db::Sqlite { .. } => &SQLITE,
                Db::Pg { .. } => &POSTGRES,
            };
            Err(OpenError::SchemaTooNew { database, supported: newest_version(migrator) })
        }
        Err(MigrateError::Execute(source)) => Err(OpenError::Store(source.into())),
        Err(other) => Err(OpenError::Migration(other)),
    }
}

fn cannot_open(what: String, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> OpenError {
    OpenError::CannotOpen { what, source: source.into() }
}
