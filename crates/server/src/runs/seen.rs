//! Signs of life, noted together: ten thousand agents give one every few seconds.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::state::App;

const INTERVAL: Duration = Duration::from_secs(15);

#[derive(Default)]
pub(crate) struct Seen {
    uids: Mutex<BTreeSet<String>>,
}

impl Seen {
    pub(crate) fn note(&self, uid: &str) {
        self.uids.lock().unwrap_or_else(PoisonError::into_inner).insert(uid.to_owned());
    }

    /// Writes them down from time to time. Never ends by itself.
    pub(crate) async fn write(&self, app: &App) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let uids = std::mem::take(&mut *self.uids.lock().unwrap_or_else(PoisonError::into_inner));
            if uids.is_empty() {
                continue;
            }
            let uids: Vec<String> = uids.into_iter().collect();
            if let Err(error) = app.store.agents_seen(&uids, app.clock.now()).await {
                tracing::warn!(error = %error, "signs of life of agents were not written down");
            }
        }
    }
}
