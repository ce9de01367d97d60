//! Changes of agent presence, written in batches: after a restart ten thousand agents reconnect at the same
//! time, and one transaction per agent would block all other writers.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use stoker_model::{ErrorChain, JsonMap, NodeId};
use stoker_services::webhooks::node_news;
use stoker_store::{PresenceUpdate, StoreError};
use tokio::sync::Notify;

use stoker_services::background::TaskMonitor;

use crate::context::OrchestratorContext;

/// Delay before a retry while the database is unavailable.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of nodes per transaction.
const BATCH_MAX: usize = 1000;

#[derive(Default)]
pub(crate) struct Presence {
    waiting: Mutex<BTreeMap<NodeId, PresenceUpdate>>,
    is_new: Notify,
}

impl Presence {
    /// Queues the presence of a node. The latest presence overrides a pending one; pending facts are retained
    /// unless newer facts are given.
    pub(crate) fn note(&self, id: NodeId, online: bool, facts: Option<JsonMap>) {
        let mut waiting = self.waiting.lock();
        let before = waiting.remove(&id).and_then(|sighting| sighting.facts);
        waiting.insert(id, PresenceUpdate { online, facts: facts.or(before) });
        self.is_new.notify_one();
    }

    /// Writes queued changes as they arrive; changes that arrive during a write form the next batch. Never
    /// returns.
    pub(crate) async fn write(&self, context: &OrchestratorContext, monitor: &TaskMonitor) {
        loop {
            let batch = self.take();
            if batch.is_empty() {
                self.is_new.notified().await;
                continue;
            }
            monitor.start();
            let written = write_batch(context, &batch).await;
            monitor.finish(&written);
            match written {
                Ok(()) => {}
                Err(StoreError::Unavailable(cause)) => {
                    tracing::warn!(error = %ErrorChain(&cause), "cannot write agent presence; retrying");
                    self.put_back(batch);
                    tokio::time::sleep(PAUSE).await;
                }
                // The data of at least one node was rejected. Write the nodes one by one, so that the others
                // succeed.
                Err(_) => write_individually(context, batch).await,
            }
        }
    }

    fn take(&self) -> BTreeMap<NodeId, PresenceUpdate> {
        let mut waiting = self.waiting.lock();
        match waiting.keys().nth(BATCH_MAX).copied() {
            Some(first_left) => {
                let left = waiting.split_off(&first_left);
                std::mem::replace(&mut *waiting, left)
            }
            None => std::mem::take(&mut *waiting),
        }
    }

    fn put_back(&self, batch: BTreeMap<NodeId, PresenceUpdate>) {
        let mut waiting = self.waiting.lock();
        for (id, sighting) in batch {
            waiting
                .entry(id)
                .and_modify(|newer| newer.facts = newer.facts.take().or_else(|| sighting.facts.clone()))
                .or_insert(sighting);
        }
    }
}

async fn write_batch(
    context: &OrchestratorContext,
    batch: &BTreeMap<NodeId, PresenceUpdate>,
) -> Result<(), StoreError> {
    let now = context.clock.now();
    if context.store.nodes_update_presence(batch, now, |node| node_news(node, now)).await? > 0 {
        context.services.webhooks.notify();
    }
    Ok(())
}

async fn write_individually(context: &OrchestratorContext, batch: BTreeMap<NodeId, PresenceUpdate>) {
    for (id, sighting) in batch {
        let alone = BTreeMap::from([(id, sighting)]);
        if let Err(error) = write_batch(context, &alone).await {
            tracing::warn!(error = %ErrorChain(&error), node.id = id.0, "cannot update the online status of the node");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> JsonMap {
        JsonMap::from_iter([("os".to_owned(), text.into())])
    }

    #[test]
    fn latest_presence_of_a_node_wins() {
        let sightings = Presence::default();
        sightings.note(NodeId(1), true, Some(facts("a")));
        sightings.note(NodeId(1), false, None);
        sightings.note(NodeId(2), true, None);
        let batch = sightings.take();
        assert_eq!(batch[&NodeId(1)], PresenceUpdate { online: false, facts: Some(facts("a")) });
        sightings.note(NodeId(1), true, None);
        sightings.note(NodeId(2), true, Some(facts("b")));
        sightings.put_back(batch);
        let batch = sightings.take();
        assert_eq!(batch[&NodeId(1)], PresenceUpdate { online: true, facts: Some(facts("a")) });
        assert_eq!(batch[&NodeId(2)], PresenceUpdate { online: true, facts: Some(facts("b")) });
        assert!(sightings.take().is_empty());
    }

    #[test]
    fn batches_are_bounded_and_complete() {
        let sightings = Presence::default();
        for id in 0..2500 {
            sightings.note(NodeId(id), true, None);
        }
        assert_eq!([(); 4].map(|()| sightings.take().len()), [1000, 1000, 500, 0]);
    }
}
