//! How many sessions over NATS this server serves.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Conversations of one server. Who calls beyond that is left to another.
const HOSTED_MAX: u32 = 50_000;
/// For telling agents that this server goes.
const GOODBYE_MAX: Duration = Duration::from_secs(2);

/// The conversations that go on.
pub(crate) struct NatsHosting {
    places: Arc<Semaphore>,
}

impl Default for NatsHosting {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(HOSTED_MAX as usize)) }
    }
}

impl NatsHosting {
    /// `None`: there are too many sessions.
    pub(crate) fn begin(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// All agents know that this server goes, or it was tried.
    pub(crate) async fn ended(&self) {
        _ = tokio::time::timeout(GOODBYE_MAX, self.places.acquire_many(HOSTED_MAX)).await;
    }
}
