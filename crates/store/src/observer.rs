//! Instrumentation of database operations. The store does not read the clock; the observer supplies one.

use std::sync::Arc;
use std::time::Duration;

use crate::StoreError;

/// Kind of a database operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Acquiring a connection and, for a writer, the writer lock.
    Connect,
    Statement,
    Commit,
}

pub trait Observer: Send + Sync {
    /// Returns the time of a monotonic clock.
    fn now(&self) -> Duration;

    /// Called after each operation with its duration and outcome.
    fn on_operation(&self, operation: Operation, took: Duration, failed: bool);
}

pub(crate) type Observed = Option<Arc<dyn Observer>>;

/// Runs `work` and reports its duration and outcome to the observer, if one is set.
pub(crate) async fn observe<T>(
    observer: &Observed,
    operation: Operation,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let Some(observer) = observer else { return work.await };
    let started_at = observer.now();
    let result = work.await;
    observer.on_operation(operation, observer.now().saturating_sub(started_at), result.is_err());
    result
}
