//! Changes of agent presence, written in batches: after a restart ten thousand agents reconnect at the same
//! time, and one transaction per agent would block all other writers.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stoker_model::{JsonMap, NodeId};
use stoker_services::webhooks::node_news;
use stoker_store::{Sighting, StoreError};
use tokio::sync::Notify;

use stoker_services::background::TaskMonitor;

use crate::context::OrchestratorContext;

/// Delay before a retry while the database is unavailable.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of nodes per transaction.
const BATCH_MAX: usize = 1000;

#[derive(Default)]
pub(crate) struct Presence {
    waiting: Mutex<BTreeMap<NodeId, Sighting>>,
    is_new: Notify,
}

impl Presence {
    /// Queues the presence of a node. The latest presence overrides an unwritten one; unwritten facts are
    /// retained unless newer facts are given.
    pub(crate) fn note(&self, id: NodeId, online: bool, facts: Option<JsonMap>) {
        let mut waiting = self.lock();
        let before = waiting.remove(&id).and_then(|sighting| sighting.facts);
        waiting.insert(id, Sighting { online, facts: facts.or(before) });
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
            let written = note_down(context, &batch).await;
            monitor.finish(&written);
            match written {
                Ok(()) => {}
                Err(StoreError::Unavailable(cause)) => {
                    tracing::warn!(error = %cause, "cannot write agent presence; retrying");
                    self.put_back(batch);
                    tokio::time::sleep(PAUSE).await;
                }
                // The data of at least one node was rejected. Write the nodes one by one, so that the others
                // succeed.
                Err(_) => one_by_one(context, batch).await,
            }
        }
    }

    fn take(&self) -> BTreeMap<NodeId, Sighting> {
        let mut waiting = self.lock();
        match waiting.keys().nth(BATCH_MAX).copied() {
            Some(first_left) => {
                let left = waiting.split_off(&first_left);
                std::mem::replace(&mut *waiting, left)
            }
            None => std::mem::take(&mut *waiting),
        }
    }

    fn put_back(&self, batch: BTreeMap<NodeId, Sighting>) {
        let mut waiting = self.lock();
        for (id, sighting) in batch {
            waiting
                .entry(id)
                .and_modify(|newer| newer.facts = newer.facts.take().or_else(|| sighting.facts.clone()))
                .or_insert(sighting);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<NodeId, Sighting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn note_down(
    context: &OrchestratorContext,
    batch: &BTreeMap<NodeId, Sighting>,
) -> Result<(), StoreError> {
    let now = context.clock.now();
    if context.store.nodes_sighted(batch, now, |node| node_news(node, now)).await? > 0 {
        context.services.webhooks.ring();
    }
    Ok(())
}

async fn one_by_one(context: &OrchestratorContext, batch: BTreeMap<NodeId, Sighting>) {
    for (id, sighting) in batch {
        let alone = BTreeMap::from([(id, sighting)]);
        if let Err(error) = note_down(context, &alone).await {
            tracing::warn!(error = %error, node.id = id.0, "cannot update the online status of the node");
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
        assert_eq!(batch[&NodeId(1)], Sighting { online: false, facts: Some(facts("a")) });
        sightings.note(NodeId(1), true, None);
        sightings.note(NodeId(2), true, Some(facts("b")));
        sightings.put_back(batch);
        let batch = sightings.take();
        assert_eq!(batch[&NodeId(1)], Sighting { online: true, facts: Some(facts("a")) });
        assert_eq!(batch[&NodeId(2)], Sighting { online: true, facts: Some(facts("b")) });
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
