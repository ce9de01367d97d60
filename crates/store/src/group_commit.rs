//! Group commit: changes of several actors in one transaction, so that they share a single fsync.

use stoker_model::{Actor, AuditChange, Micros};

use crate::sql::Args;
use crate::{Store, StoreError, WriteTransaction};

/// A transaction of savepoints, each of which is released or rolled back independently.
pub struct GroupCommit {
    writing: WriteTransaction,
    /// Length of `Writing::written` when the current savepoint began.
    n_written: usize,
}

impl Store {
    pub async fn group_commit(&self, now: Micros) -> Result<GroupCommit, StoreError> {
        Ok(GroupCommit { writing: self.begin_write(&Actor::server(), now).await?, n_written: 0 })
    }
}

impl GroupCommit {
    /// Opens a savepoint, which ends with [`GroupCommit::release_savepoint`] or [`GroupCommit::rollback_savepoint`].
    pub async fn begin_savepoint(&mut self, actor: Actor) -> Result<&mut WriteTransaction, StoreError> {
        self.writing.set_actor(actor);
        self.n_written = self.writing.written.len();
        self.execute("SAVEPOINT part").await?;
        Ok(&mut self.writing)
    }

    /// Releases the savepoint and keeps its changes together with their audit log entries.
    pub async fn release_savepoint(&mut self, changes: &[AuditChange]) -> Result<(), StoreError> {
        for change in changes {
            self.writing.audit_append(change).await?;
        }
        self.execute("RELEASE SAVEPOINT part").await
    }

    /// Rolls the savepoint back.
    pub async fn rollback_savepoint(&mut self) -> Result<(), StoreError> {
        self.writing.written.truncate(self.n_written);
        self.execute("ROLLBACK TO SAVEPOINT part").await?;
        self.execute("RELEASE SAVEPOINT part").await
    }

    /// Commits all released savepoints.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.writing.commit_unaudited().await
    }

    async fn execute(&mut self, statement: &str) -> Result<(), StoreError> {
        self.writing.connection.execute(statement.to_owned(), Args::new()).await.map(drop)
    }
}
