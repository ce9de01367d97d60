//! A doorbell for those who watch runs. It says that there is something new, not what: whoever hears it looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use stoker_model::RunId;
use tokio::sync::Notify;

#[derive(Default)]
pub struct EventFeed {
    bells: Mutex<HashMap<RunId, Arc<Notify>>>,
}

impl EventFeed {
    /// Something happened in a run.
    pub fn notify(&self, run: RunId) {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(bell) = bells.get(&run) else { return };
        bell.notify_waiters();
        // Nobody but this list knows it any more.
        if Arc::strong_count(bell) == 1 {
            bells.remove(&run);
        }
    }

    /// To be waited for. Ask for it before looking, so that nothing is missed in between.
    pub fn bell(&self, run: RunId) -> Arc<Notify> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bells.entry(run).or_default())
    }
}
