//! One connection of either engine, and how long anybody waits for it.

use std::future::Future;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Database, Pool, Postgres, SqlSafeStr as _, Sqlite, Transaction};

use crate::error::Outage;
use crate::observer::{Observed, Operation, observed};
use crate::sql::many::chunks;
use crate::sql::{Args, Dialect, Many, Row, violation};
use crate::{Patience, StoreError};

/// A connection with or without a transaction around it; dropped, the transaction is rolled back.
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
    patience: Patience,
    observer: Observed,
}

impl<DB: Database> Handle<DB> {
    /// With a statement, a transaction that begins with it.
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

/// The same body for both engines: `$link` is a handle, `$row` the variant of [`Row`], `$arguments` the type
/// of the arguments.
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
    pub(crate) fn sqlite(handle: Handle<Sqlite>, patience: Patience, observer: Observed) -> Self {
        Self { link: Link::Sqlite(handle), patience, observer }
    }

    pub(crate) fn postgres(handle: Handle<Postgres>, patience: Patience, observer: Observed) -> Self {
        Self { link: Link::Pg(handle), patience, observer }
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
            let answer = in_time(after, async { Ok(query.await?.into_iter().map(row).collect()) });
            observed(&self.observer, Operation::Statement, answer).await
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
            let answer = in_time(after, async { Ok(query.await?.map(row)) });
            observed(&self.observer, Operation::Statement, answer).await
        })
    }

    /// Writes many rows, with as few statements as the engine likes; what they return.
    pub(crate) async fn write_many(
        &mut self,
        many: Many<'_>,
        rows: Vec<Args>,
    ) -> Result<Vec<Row>, StoreError> {
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
                    let rows = in_time(after, async { Ok(query.await?) }).await?;
                    returned.extend(rows.into_iter().map(Row::Pg));
                }
            }
        }
        Ok(returned)
    }

    /// How many rows a statement changed.
    pub(crate) async fn execute(&mut self, sql: String, args: Args) -> Result<u64, StoreError> {
        self.run(sql, args, StoreError::from).await
    }

    /// The same for a removal: a row that others refer to stays and says so.
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
            let done = async { query.await.map(|done| done.rows_affected()).map_err(explain) };
            observed(&self.observer, Operation::Statement, in_time(after, done)).await
        })
    }

    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        let after = self.patience.statement;
        let Self { link, observer, .. } = self;
        let commit = async {
            match link {
                Link::Sqlite(handle) => handle.commit().await,
                Link::Pg(handle) => handle.commit().await,
            }
        };
        observed(&observer, Operation::Commit, in_time(after, commit)).await
    }
}

/// No wait without an end: a network that swallows packets looks like a slow answer.
pub(crate) async fn in_time<T>(
    after: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(after, work).await {
        Ok(answer) => answer,
        Err(_) => Err(StoreError::Unavailable(Outage::Slow { after })),
    }
}
