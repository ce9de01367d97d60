//! Changes of several actors that are made to last together: whoever waits for the disk once for each of them waits long.

use stoker_model::{Actor, Change, Micros};

use crate::sql::Args;
use crate::{Store, StoreError, Writing};

/// A transaction of parts, each of which is kept or undone by itself.
pub struct Together {
    writing: Writing,
    /// How many graphs had been written when the part began.
    n_written: usize,
}

impl Store {
    pub async fn together(&self, now: Micros) -> Result<Together, StoreError> {
        Ok(Together { writing: self.change(&Actor::server(), now).await?, n_written: 0 })
    }
}

impl Together {
    /// Begins a part, which ends with [`Together::keep`] or [`Together::undo`].
    pub async fn begin(&mut self, actor: Actor) -> Result<&mut Writing, StoreError> {
        self.writing.set_actor(actor);
        self.n_written = self.writing.written.len();
        self.say("SAVEPOINT part").await?;
        Ok(&mut self.writing)
    }

    /// What the part changed stays, together with the entry of the audit log that tells of it.
    pub async fn keep(&mut self, change: Change) -> Result<(), StoreError> {
        self.writing.audit_append(&change).await?;
        self.say("RELEASE SAVEPOINT part").await
    }

    /// The part has never been.
    pub async fn undo(&mut self) -> Result<(), StoreError> {
        self.writing.written.truncate(self.n_written);
        self.say("ROLLBACK TO SAVEPOINT part").await?;
        self.say("RELEASE SAVEPOINT part").await
    }

    /// Makes all that was kept last.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.writing.commit_quietly().await
    }

    async fn say(&mut self, statement: &str) -> Result<(), StoreError> {
        self.writing.connection.execute(statement.to_owned(), Args::new()).await.map(drop)
    }
}
