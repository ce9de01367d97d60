//! Wake-up notifications for watchers of runs. A notification carries no data: watchers read the new state
//! from the database.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use stoker_model::RunId;
use tokio::sync::Notify;

#[derive(Default)]
pub struct EventFeed {
    bells: Mutex<HashMap<RunId, Arc<Notify>>>,
}

impl EventFeed {
    /// Wakes all watchers of a run.
    pub fn notify(&self, run: RunId) {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(bell) = bells.get(&run) else { return };
        bell.notify_waiters();
        // The map holds the last reference: the run has no watchers.
        if Arc::strong_count(bell) == 1 {
            bells.remove(&run);
        }
    }

    /// Notification of a run. Call this before reading the state of the run, so that no change is missed
    /// between the read and the wait.
    pub fn subscribe(&self, run: RunId) -> Arc<Notify> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bells.entry(run).or_default())
    }
}
