//! Opening a database: it is made where there is none, and brought up to date.

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgPool, SqlitePool};

use crate::backup::create_private;
use crate::connection::in_time;
use crate::store::Db;
use crate::{Database, Patience, Store, StoreError};

pub(crate) static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
pub(crate) static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

const READERS_MAX: u32 = 8;
const PG_CONNECTIONS_MAX: u32 = 16;
/// Another process may hold the file for a moment: a backup, an operator with a shell.
const BUSY: Duration = Duration::from_secs(5);

/// How many rows the thread of a connection reads ahead: enough for a large graph without waking each other up.
const ROWS_AHEAD: usize = 512;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Written by a later version of this program.
    #[error("the database is of version {found}, this program knows {known}; use a newer program")]
    Newer { found: i64, known: i64 },
    /// A file that is no database, a folder that is not there, a name that is no address.
    #[error("cannot open {what}")]
    Place {
        what: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("cannot bring the database up to date")]
    Migration(#[source] MigrateError),
    #[error("cannot open the database")]
    Store(#[from] StoreError),
}

impl Store {
    /// Creates what is missing, applies what is new. Safe to call from several programs at once.
    pub async fn open(database: &Database) -> Result<Self, OpenError> {
        Self::open_with(database, Patience::default()).await
    }

    pub async fn open_with(database: &Database, patience: Patience) -> Result<Self, OpenError> {
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
        // Ends that agents were told are safe must survive a loss of power too; commits are batched where there are many.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY)
        .row_buffer_size(ROWS_AHEAD)
        .disable_statement_logging()
}

async fn open_sqlite(path: &Path, patience: Patience) -> Result<Db, OpenError> {
    match create_private(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(place(format!("`{}`", path.display()), error));
        }
        _ => {}
    }
    let options = sqlite_options(path);
    let pool = || SqlitePoolOptions::new().acquire_timeout(patience.connection).test_before_acquire(false);
    let connect = async |pool: SqlitePoolOptions, options| {
        let connected: Result<SqlitePool, sqlx::Error> = pool.connect_with(options).await;
        connected.map_err(|source| place(format!("`{}`", path.display()), source))
    };
    let writer = connect(pool().max_connections(1), options.clone()).await?;
    // What reads cannot write by mistake.
    let reading = options.pragma("query_only", "ON");
    let readers = connect(pool().max_connections(READERS_MAX), reading).await?;
    Ok(Db::Sqlite { readers, writer })
}

async fn open_postgres(url: &str, patience: Patience) -> Result<Db, OpenError> {
    let options: PgConnectOptions =
        url.parse().map_err(|source: sqlx::Error| place("the address of the database".to_owned(), source))?;
    let options = options.application_name("stoker").disable_statement_logging();
    let statement_ms = patience.statement.as_millis();
    // The server gives up no later than we do; a program that stopped in a transaction loses its locks.
    let limits = format!(
        "SET statement_timeout = {statement_ms}; SET idle_in_transaction_session_timeout = {};",
        statement_ms * 2
    );
    let pool = PgPoolOptions::new()
        .max_connections(PG_CONNECTIONS_MAX)
        .acquire_timeout(patience.connection)
        .after_connect(move |connection, _| {
            let limits = sqlx::AssertSqlSafe(limits.clone());
            Box::pin(async move { connection.execute(limits).await.map(drop) })
        })
        // Flushes a pending rollback. A connection whose answer never comes is closed, not kept for good.
        .after_release(move |connection, _| {
            Box::pin(async move {
                let answer = tokio::time::timeout(patience.connection, connection.ping()).await;
                answer.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map(|()| true)
            })
        });
    let connecting = in_time(patience.connection.saturating_mul(2), async {
        Ok::<PgPool, StoreError>(pool.connect_with(options).await?)
    });
    Ok(Db::Pg(connecting.await?))
}

async fn migrate(store: &Store) -> Result<(), OpenError> {
    let migrator = match store.db {
        Db::Sqlite { .. } => &SQLITE,
        Db::Pg(_) => &POSTGRES,
    };
    let done = match &store.db {
        Db::Sqlite { writer, .. } => migrator.run(writer).await,
        Db::Pg(pool) => migrator.run(pool).await,
    };
    match done {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(found)) => Err(OpenError::Newer { found, known: known(migrator) }),
        Err(MigrateError::Execute(source)) => Err(OpenError::Store(source.into())),
        Err(other) => Err(OpenError::Migration(other)),
    }
}

/// The newest version that this program can read.
pub(crate) fn known(migrator: &Migrator) -> i64 {
    migrator.iter().map(|migration| migration.version).max().unwrap_or_default()
}

fn place(what: String, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> OpenError {
    OpenError::Place { what, source: source.into() }
}
