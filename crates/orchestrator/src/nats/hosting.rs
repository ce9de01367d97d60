//! Limits the number of agent sessions over NATS.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of sessions per server. Further calls are ignored, so that another server can accept them.
const HOSTED_MAX: u32 = 50_000;
/// Shutdown timeout: time to notify agents that this server stops.
const GOODBYE_MAX: Duration = Duration::from_secs(2);

/// Counts the sessions in progress.
pub(crate) struct NatsHosting {
    places: Arc<Semaphore>,
}

impl Default for NatsHosting {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(HOSTED_MAX as usize)) }
    }
}

impl NatsHosting {
    /// Reserves a session; `None` at the limit.
    pub(crate) fn begin(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Waits until all sessions have ended, at most [`GOODBYE_MAX`].
    pub(crate) async fn ended(&self) {
        _ = tokio::time::timeout(GOODBYE_MAX, self.places.acquire_many(HOSTED_MAX)).await;
    }
}
