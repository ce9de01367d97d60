//! For whoever wants to know how the database does. The store reads no clock; its observer has one.

use std::sync::Arc;
use std::time::Duration;

use crate::StoreError;

/// What is asked of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A connection, and for a writer its turn.
    Connect,
    Statement,
    Commit,
}

pub trait Observer: Send + Sync {
    /// A clock that never goes back.
    fn now(&self) -> Duration;

    /// Something was asked, took so long, and failed or not.
    fn done(&self, operation: Operation, took: Duration, failed: bool);
}

pub(crate) type Observed = Option<Arc<dyn Observer>>;

/// Does something before the eyes of the observer, if there is one.
pub(crate) async fn observed<T>(
    observer: &Observed,
    operation: Operation,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let Some(observer) = observer else { return work.await };
    let began = observer.now();
    let result = work.await;
    observer.done(operation, observer.now().saturating_sub(began), result.is_err());
    result
}
