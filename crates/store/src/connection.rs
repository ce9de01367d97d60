//! One connection to either engine, with a timeout on every operation.

use std::future::Future;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Database, Pool, Postgres, SqlSafeStr as _, Sqlite, Transaction};
use tokio::sync::OwnedSemaphorePermit;

use crate::StoreError;
use crate::error::Outage;
use crate::observer::{Observed, Operation, observe};
use crate::sql::many::{Many, chunks};
use crate::sql::{Args, Bulk, Dialect, Row, Values, violation};

/// Time limits after which an operation fails with [`StoreError::Unavailable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Limit for acquiring a connection or the writer lock.
    pub acquire: Duration,
    /// Timeout of one statement.
    pub statement: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { acquire: Duration::from_secs(10), statement: Duration::from_secs(30) }
    }
}

/// A connection with or without an open transaction. Dropping it rolls the transaction back.
pub(crate) enum Handle<DB: Database> {
    Plain(PoolConnection<DB>),
    Open(Transaction<'static, DB>),
}

enum Link {
    Sqlite(Handle<Sqlite>),
    Pg(Handle<Postgres>),
}

pub(crate) struct Connection {
    link: Link,
    patience: Timeouts,
    observer: Observed,
    /// Releases the writer permit on drop, so that the next writer of this process can take a connection.
    _permit: Option<OwnedSemaphorePermit>,
}

impl<DB: Database> Handle<DB> {
    /// Acquires a connection. `begin` is the statement that opens a transaction, if one is needed.
    pub(crate) async fn acquire(pool: &Pool<DB>, begin: Option<&'static str>) -> Result<Self, StoreError> {
        Ok(match begin {
            None => Self::Plain(pool.acquire().await?),
            Some(statement) => Self::Open(pool.begin_with(statement).await?),
        })
    }

    fn get(&mut self) -> &mut DB::Connection {
        match self {
            Self::Plain(connection) => connection,
            Self::Open(transaction) => transaction,
        }
    }

    async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Open(transaction) => Ok(transaction.commit().await?),
        }
    }
}

/// Expands one body for both engines: `$link` is the handle, `$row` the variant of [`Row`], `$arguments` the
/// engine's argument type.
macro_rules! on {
    ($self:expr, |$link:ident, $row:ident, $arguments:ident| $body:expr) => {
        match &mut $self.link {
            Link::Sqlite($link) => {
                type $arguments = SqliteArguments;
                #[allow(unused_variables, reason = "not every statement returns rows")]
                let $row = Row::Sqlite;
                $body
            }
            Link::Pg($link) => {
                type $arguments = PgArguments;
                #[allow(unused_variables, reason = "not every statement returns rows")]
                let $row = Row::Pg;
                $body
            }
        }
    };
}

impl Connection {
    pub(crate) fn sqlite(handle: Handle<Sqlite>, patience: Timeouts, observer: Observed) -> Self {
        Self { link: Link::Sqlite(handle), patience, observer, _permit: None }
    }

    pub(crate) fn postgres(
        handle: Handle<Postgres>,
        permit: Option<OwnedSemaphorePermit>,
        patience: Timeouts,
        observer: Observed,
    ) -> Self {
        Self { link: Link::Pg(handle), patience, observer, _permit: permit }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self.link {
            Link::Sqlite(_) => Dialect::Sqlite,
            Link::Pg(_) => Dialect::Postgres,
        }
    }

    pub(crate) async fn fetch_all(&mut self, sql: String, args: Args) -> Result<Vec<Row>, StoreError> {
        let sql = AssertSqlSafe(sql).into_sql_str();
        let after = self.patience.statement;
        on!(self, |link, row, Arguments| {
            let arguments: Arguments = args.into_engine()?;
            let query = sqlx::query_with(sql, arguments).fetch_all(link.get());
            let rows = with_timeout(after, async { Ok(query.await?.into_iter().map(row).collect()) });
            observe(&self.observer, Operation::Statement, rows).await
        })
    }

    pub(crate) async fn fetch_optional(
        &mut self,
        sql: String,
        args: Args,
    ) -> Result<Option<Row>, StoreError> {
        let sql = AssertSqlSafe(sql).into_sql_str();
        let after = self.patience.statement;
        on!(self, |link, row, Arguments| {
            let arguments: Arguments = args.into_engine()?;
            let query = sqlx::query_with(sql, arguments).fetch_optional(link.get());
            let rows = with_timeout(after, async { Ok(query.await?.map(row)) });
            observe(&self.observer, Operation::Statement, rows).await
        })
    }

    /// Inserts one row. `after` follows the values, such as `ON CONFLICT …`. Returns the number of affected rows.
    pub(crate) async fn insert(
        &mut self,
        table: &str,
        values: Values,
        after: &str,
    ) -> Result<u64, StoreError> {
        self.execute(values.insert_sql(table, after), values.into_args()).await
    }

    /// Inserts one row. Returns the row of its `RETURNING` clause, if one was inserted.
    pub(crate) async fn insert_returning(
        &mut self,
        table: &str,
        values: Values,
        after: &str,
    ) -> Result<Option<Row>, StoreError> {
        self.fetch_optional(values.insert_sql(table, after), values.into_args()).await
    }

    /// Inserts many rows. Returns the rows of the `RETURNING` clauses.
    pub(crate) async fn insert_many(
        &mut self,
        table: &str,
        bulk: Bulk,
        after: &str,
    ) -> Result<Vec<Row>, StoreError> {
        self.write_many(&Many::insert(table, &bulk.columns, after), bulk.rows).await
    }

    /// Executes a statement that uses the rows as table `updates`. Returns the rows of the `RETURNING` clauses.
    pub(crate) async fn update_many(&mut self, bulk: Bulk, statement: &str) -> Result<Vec<Row>, StoreError> {
        self.write_many(&Many::update(&bulk.columns, statement), bulk.rows).await
    }

    /// Writes many rows in as few statements as the engine allows.
    async fn write_many(&mut self, many: &Many, rows: Vec<Args>) -> Result<Vec<Row>, StoreError> {
        let after = self.patience.statement;
        let mut returned = Vec::new();
        for chunk in chunks(self.dialect(), rows) {
            match &mut self.link {
                Link::Sqlite(_) => {
                    let (sql, args) = many.by_rows(chunk);
                    returned.extend(self.fetch_all(sql, args).await?);
                }
                Link::Pg(link) => {
                    let (sql, arguments) = many.by_columns(chunk)?;
                    let sql = AssertSqlSafe(sql).into_sql_str();
                    let query = sqlx::query_with(sql, arguments).fetch_all(link.get());
                    let rows = with_timeout(after, async { Ok(query.await?) }).await?;
                    returned.extend(rows.into_iter().map(Row::Pg));
                }
            }
        }
        Ok(returned)
    }

    /// Executes a statement. Returns the number of affected rows.
    pub(crate) async fn execute(&mut self, sql: String, args: Args) -> Result<u64, StoreError> {
        self.run(sql, args, StoreError::from).await
    }

    /// Like [`Connection::execute`] for a deletion: a foreign key violation becomes
    /// [`StoreError::Referenced`].
    pub(crate) async fn remove(&mut self, sql: String, args: Args) -> Result<u64, StoreError> {
        self.run(sql, args, violation::explain_removal).await
    }

    async fn run(
        &mut self,
        sql: String,
        args: Args,
        explain: fn(sqlx::Error) -> StoreError,
    ) -> Result<u64, StoreError> {
        let sql = AssertSqlSafe(sql).into_sql_str();
        let after = self.patience.statement;
        on!(self, |link, row, Arguments| {
            let arguments: Arguments = args.into_engine()?;
            let query = sqlx::query_with(sql, arguments).execute(link.get());
            let result = async { query.await.map(|result| result.rows_affected()).map_err(explain) };
            observe(&self.observer, Operation::Statement, with_timeout(after, result)).await
        })
    }

    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        let after = self.patience.statement;
        let Self { link, observer, _permit, .. } = self;
        let commit = async {
            match link {
                Link::Sqlite(handle) => handle.commit().await,
                Link::Pg(handle) => handle.commit().await,
            }
        };
        observe(&observer, Operation::Commit, with_timeout(after, commit)).await
    }
}

/// Fails with [`Outage::Timeout`] after a timeout. Every wait is bounded: a network that drops packets cannot
/// be distinguished from a slow response.
pub(crate) async fn with_timeout<T>(
    after: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(after, work).await {
        Ok(result) => result,
        Err(_) => Err(StoreError::Unavailable(Outage::Timeout { after })),
    }
}
