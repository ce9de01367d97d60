//! Agent heartbeats, written in batches: ten thousand agents send a heartbeat every few seconds.

use std::collections::BTreeSet;
use std::time::Duration;

use parking_lot::Mutex;
use stoker_model::{AgentUid, ErrorChain};
use stoker_services::background::TaskMonitor;

use crate::context::OrchestratorContext;

pub(crate) const INTERVAL: Duration = Duration::from_secs(15);

#[derive(Default)]
pub(crate) struct Heartbeats {
    uids: Mutex<BTreeSet<AgentUid>>,
}

impl Heartbeats {
    pub(crate) fn note(&self, uid: &AgentUid) {
        self.uids.lock().insert(uid.clone());
    }

    /// Writes the agents that sent a heartbeat since the last write, once per [`INTERVAL`]. Never returns.
    pub(crate) async fn write(&self, context: &OrchestratorContext, monitor: &TaskMonitor) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            monitor.start();
            let uids = std::mem::take(&mut *self.uids.lock());
            if uids.is_empty() {
                monitor.succeed();
                continue;
            }
            let uids: Vec<AgentUid> = uids.into_iter().collect();
            let written = context.store.agents_touch(&uids, context.clock.now()).await;
            if let Err(error) = &written {
                tracing::warn!(error = %ErrorChain(error), "cannot write heartbeats of agents");
            }
            monitor.finish(&written);
        }
    }
}
