//! Read sessions and write transactions. Queries for each record type are in that type's module.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use stoker_model::{Actor, AuditChange, Graph, Micros, RunEvent, RunId};

use crate::connection::Connection;
use crate::sql::{Args, Dialect, Record, Row, Select, Values, read_all};
use crate::task_cache::TaskCache;
use crate::{List, Page, StoreError};

/// A connection for reading. Inside a transaction, all reads see one consistent snapshot.
pub struct Session {
    pub(crate) connection: Connection,
    pub(crate) cache: Arc<TaskCache>,
    /// Data read here may be cached for other sessions: this session is not a write transaction, so it cannot
    /// be rolled back.
    pub(crate) is_settled: bool,
}

/// A write transaction. Dropping it without [`WriteTransaction::commit`] rolls it back.
pub struct WriteTransaction {
    session: Session,
    actor: Actor,
    now: Micros,
    /// Graphs written by this transaction, cached after commit.
    pub(crate) written: Vec<Graph>,
}

impl Deref for WriteTransaction {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for WriteTransaction {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl WriteTransaction {
    pub(crate) fn new(session: Session, actor: Actor, now: Micros) -> Self {
        Self { session, actor, now, written: Vec::new() }
    }

    pub fn now(&self) -> Micros {
        self.now
    }

    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    pub(crate) fn set_actor(&mut self, actor: Actor) {
        self.actor = actor;
    }

    /// Commits the changes together with their audit log entry.
    ///
    /// After [`StoreError::Unavailable`] the outcome is unknown: the changes may or may not have been
    /// committed.
    pub async fn commit(mut self, change: AuditChange) -> Result<(), StoreError> {
        self.audit_append(&change).await?;
        self.commit_unaudited().await
    }

    /// Commits the changes together with the run events that describe them. Fails with [`StoreError::Stale`]
    /// and changes nothing if the run lease was lost.
    pub async fn commit_run(
        mut self,
        run: RunId,
        lease_generation: i64,
        events: &[RunEvent],
    ) -> Result<(), StoreError> {
        self.run_events_append(run, lease_generation, events).await?;
        self.commit_unaudited().await
    }

    /// Commits without an audit log entry, for changes that no user made.
    pub(crate) async fn commit_unaudited(self) -> Result<(), StoreError> {
        let Session { connection, cache, .. } = self.session;
        connection.commit().await?;
        for graph in &self.written {
            cache.put(graph.id, graph.generation, &graph.tasks);
        }
        Ok(())
    }

    /// Inserts a row, of generation 1 if the table has generations. Returns its id, or `None` if its unique key
    /// is taken: an error would abort the transaction in PostgreSQL but not in SQLite.
    pub(crate) async fn insert<T: Record>(
        &mut self,
        conflict: &'static str,
        values: Values,
    ) -> Result<Option<i64>, StoreError> {
        let table = T::table();
        let values = if table.has_generation { values.set("generation", &1_i64) } else { values };
        let after = format!("ON CONFLICT {conflict} DO NOTHING RETURNING id");
        let row = self.connection.insert_returning(table.name, values, &after).await?;
        row.map(|row| row.get(table.name, "id")).transpose()
    }

    /// Overwrites all columns of a row if it still has the expected generation. Returns the new generation.
    pub(crate) async fn replace<T: Record>(
        &mut self,
        id: i64,
        generation: i64,
        record: &T,
    ) -> Result<i64, StoreError> {
        let args = record.write(Args::new()).int(id).int(generation);
        if self.connection.execute(T::table().update_sql(), args).await? == 1 {
            return Ok(generation + 1);
        }
        Err(self.stale::<T>(id).await?)
    }

    /// Returns the error for a row that does not have the expected generation: changed since, or deleted.
    pub(crate) async fn stale<T: Record>(&mut self, id: i64) -> Result<StoreError, StoreError> {
        let sql = format!("SELECT generation FROM {} WHERE id = $1", T::table().name);
        let row = self.connection.fetch_optional(sql, Args::new().int(id)).await?;
        Ok(match row {
            Some(row) => StoreError::Stale { current: row.get(T::table().name, "generation")? },
            None => StoreError::NotFound { what: T::table().noun },
        })
    }

    /// Deletes a row. Returns whether it existed.
    pub(crate) async fn delete<T: Record>(&mut self, id: i64) -> Result<bool, StoreError> {
        let sql = format!("DELETE FROM {} WHERE id = $1", T::table().name);
        Ok(self.connection.remove(sql, Args::new().int(id)).await? == 1)
    }

    /// Locks a row until the end of the transaction, so that no new row can reference it. SQLite has a single
    /// writer and needs no lock. Returns whether the row exists.
    pub(crate) async fn hold<T: Record>(&mut self, id: i64) -> Result<bool, StoreError> {
        let lock = match self.connection.dialect() {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE",
        };
        let sql = format!("SELECT id FROM {} WHERE id = $1{lock}", T::table().name);
        Ok(self.connection.fetch_optional(sql, Args::new().int(id)).await?.is_some())
    }

    /// Fails with [`StoreError::NotFound`] unless the row exists. Needed because SQLite does not report which
    /// foreign key a statement violated.
    pub(crate) async fn require<T: Record>(&mut self, id: i64) -> Result<(), StoreError> {
        let sql = format!("SELECT 1 FROM {} WHERE id = $1", T::table().name);
        if self.session.exists(sql, Args::new().int(id)).await? {
            return Ok(());
        }
        Err(StoreError::NotFound { what: T::table().noun })
    }
}

impl Session {
    pub(crate) fn select(&self) -> Select {
        Select::new(self.connection.dialect())
    }

    pub(crate) async fn exists(&mut self, sql: String, args: Args) -> Result<bool, StoreError> {
        Ok(self.connection.fetch_optional(sql, args).await?.is_some())
    }

    /// Returns the integer `n` of a statement; 0 without a row.
    pub(crate) async fn number(&mut self, sql: String, args: Args) -> Result<i64, StoreError> {
        let row = self.connection.fetch_optional(sql, args).await?;
        row.map_or(Ok(0), |row| row.get("statement", "n"))
    }

    pub(crate) async fn get<T: Record>(&mut self, id: i64) -> Result<Option<T>, StoreError> {
        self.get_where("id = $1", Args::new().int(id)).await
    }

    pub(crate) async fn get_where<T: Record>(
        &mut self,
        condition: &'static str,
        args: Args,
    ) -> Result<Option<T>, StoreError> {
        let sql = format!("{} WHERE {condition}", T::table().select_sql());
        let row = self.connection.fetch_optional(sql, args).await?;
        row.as_ref().map(Row::read).transpose()
    }

    pub(crate) async fn list<T: Record>(
        &mut self,
        select: Select,
        list: &List,
    ) -> Result<Page<T>, StoreError> {
        self.list_by("id", select, list).await
    }

    /// Like [`Session::list`] with another default order.
    pub(crate) async fn list_by<T: Record>(
        &mut self,
        default: &'static str,
        select: Select,
        list: &List,
    ) -> Result<Page<T>, StoreError> {
        let table = T::table();
        let order = list.order_sql(&table.orders, default)?;
        let (rows, total) = self.page(&table.select_sql(), table.name, select, &order, list).await?;
        Ok(Page { items: read_all(&rows)?, total })
    }

    /// Reads all records of a statement.
    pub(crate) async fn read_all<T: Record>(
        &mut self,
        sql: String,
        args: Args,
    ) -> Result<Vec<T>, StoreError> {
        read_all(&self.connection.fetch_all(sql, args).await?)
    }

    /// Returns the rows of one page and the total number of rows.
    pub(crate) async fn page(
        &mut self,
        select_sql: &str,
        from: &str,
        select: Select,
        order: &str,
        list: &List,
    ) -> Result<(Vec<Row>, u64), StoreError> {
        let (condition, args) = select.finish();
        let count = (!list.is_unpaginated()).then(|| (args.clone(), condition.clone()));
        let sql = format!("{select_sql}{condition}{order}{}", list.limit_sql());
        let rows = self.connection.fetch_all(sql, args).await?;
        let total = match count {
            None => rows.len() as u64,
            Some((args, condition)) => {
                let sql = format!("SELECT count(*) AS n FROM {from}{condition}");
                u64::try_from(self.number(sql, args).await?).unwrap_or_default()
            }
        };
        Ok((rows, total))
    }
}
