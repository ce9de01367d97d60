//! Wake-up notifications for watchers of runs. A notification carries no data: watchers read the new state
//! from the database.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_model::RunId;
use tokio::sync::Notify;

#[derive(Default)]
pub struct EventFeed {
    bells: Mutex<HashMap<RunId, Arc<Notify>>>,
}

impl EventFeed {
    /// Wakes all watchers of a run.
    pub fn notify(&self, run: RunId) {
        let mut bells = self.bells.lock();
        let Some(bell) = bells.get(&run) else { return };
        bell.notify_waiters();
        // Only the map still refers to the run: it has no watchers.
        if Arc::strong_count(bell) == 1 {
            bells.remove(&run);
        }
    }

    /// Returns the notification of a run. Call this before reading the state of the run, so that no change is
    /// missed between the read and the wait.
    pub fn subscribe(&self, run: RunId) -> Arc<Notify> {
        let mut bells = self.bells.lock();
        Arc::clone(bells.entry(run).or_default())
    }
}
