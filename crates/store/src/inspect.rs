//! Read-only inspection of a database, without migrating it.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, Row as _, SqliteConnection};
use stoker_model::Micros;

use crate::connection::with_timeout;
use crate::migrations::{POSTGRES, SQLITE, newest_version};
use crate::{Database, OpenError, Store, StoreError};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Result of [`Store::inspect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Engine name and version as reported by the engine.
    pub engine: String,
    /// Schema version of the database; 0 if it has no tables yet.
    pub schema_version: i64,
    /// Newest schema version that this program supports.
    pub supported_version: i64,
    /// Clock of the database server; only for PostgreSQL, whose clock may differ from the local clock.
    pub clock: Option<Micros>,
}

impl Store {
    /// Inspects a database without migrating it. Returns `None` if the SQLite file does not exist.
    pub async fn inspect(database: &Database) -> Result<Option<Inspection>, OpenError> {
        match database {
            Database::Sqlite { path } if !path.exists() => Ok(None),
            Database::Sqlite { path } => {
                let options = SqliteConnectOptions::new().filename(path).read_only(true);
                Ok(Some(with_timeout(TIMEOUT, sqlite(options)).await?))
            }
            Database::Postgres { url } => {
                let options: PgConnectOptions = url.parse().map_err(|source: sqlx::Error| {
                    OpenError::CannotOpen { what: "the database URL".to_owned(), source: source.into() }
                })?;
                Ok(Some(with_timeout(TIMEOUT, postgres(options)).await?))
            }
        }
    }
}

const NEWEST: &str = "SELECT coalesce(max(version), 0) FROM _sqlx_migrations WHERE success";

async fn sqlite(options: SqliteConnectOptions) -> Result<Inspection, StoreError> {
    let mut connection: SqliteConnection = options.disable_statement_logging().connect().await?;
    let version: String =
        sqlx::query("SELECT sqlite_version()").fetch_one(&mut connection).await?.try_get(0)?;
    let tables = sqlx::query("SELECT 1 FROM sqlite_schema WHERE name = '_sqlx_migrations'");
    let version_number = match tables.fetch_optional(&mut connection).await? {
        Some(_) => sqlx::query(NEWEST).fetch_one(&mut connection).await?.try_get(0)?,
        None => 0,
    };
    connection.close().await?;
    Ok(Inspection {
        engine: format!("SQLite {version}"),
        schema_version: version_number,
        supported_version: newest_version(&SQLITE),
        clock: None,
    })
}

async fn postgres(options: PgConnectOptions) -> Result<Inspection, StoreError> {
    let mut connection: PgConnection = options.disable_statement_logging().connect().await?;
    let row = sqlx::query(
        "SELECT current_setting('server_version'), CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT), \
         to_regclass('_sqlx_migrations') IS NOT NULL",
    )
    .fetch_one(&mut connection)
    .await?;
    let (version, clock, has_tables): (String, i64, bool) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let version_number =
        if has_tables { sqlx::query(NEWEST).fetch_one(&mut connection).await?.try_get(0)? } else { 0 };
    connection.close().await?;
    let clock = Some(Micros(clock));
    Ok(Inspection {
        engine: format!("PostgreSQL {version}"),
        schema_version: version_number,
        supported_version: newest_version(&POSTGRES),
        clock,
    })
}
