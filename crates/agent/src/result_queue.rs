//! Results waiting for publication to a second durable store, in case the machine is lost before a server has
//! them.
//!
//! The journal stays authoritative: every result in this queue is also in the journal, and no operation waits
//! for the queue. A result is removed when it has been published or a server has acknowledged it.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_engine::session::{AttemptKey, AttemptResult};
use tokio::sync::Notify;

/// Maximum number of queued results. Further results are only in the journal.
const RESULTS_MAX: usize = 10_000;

/// Cheap to clone; clones share the queue.
#[derive(Clone, Default)]
pub struct ResultQueue(Arc<Inner>);

#[derive(Default)]
struct Inner {
    results: Mutex<BTreeMap<AttemptKey, AttemptResult>>,
    added: Notify,
}

impl ResultQueue {
    pub(crate) fn add(&self, finished: AttemptResult) {
        let mut results = self.0.results.lock();
        if results.len() < RESULTS_MAX {
            results.insert(finished.key, finished);
        }
        drop(results);
        self.0.added.notify_one();
    }

    /// Removes results that were published or acknowledged.
    pub(crate) fn remove(&self, keys: &[AttemptKey]) {
        let mut results = self.0.results.lock();
        for key in keys {
            results.remove(key);
        }
    }

    /// Waits for a result and returns the first one. The result stays queued until it is removed.
    pub(crate) async fn first(&self) -> AttemptResult {
        loop {
            let notified = self.0.added.notified();
            let first = self.0.results.lock().first_key_value().map(|(_, finished)| finished.clone());
            match first {
                Some(finished) => return finished,
                None => notified.await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use stoker_engine::session::ResultKind;
    use stoker_model::{InstanceIdx, Micros, RunId, TaskReport};

    use super::*;

    fn finished(instance: u32) -> AttemptResult {
        let key = AttemptKey { run: RunId(1), instance: InstanceIdx::new(instance), attempt: 1 };
        AttemptResult { key, at: Micros(0), end: ResultKind::Succeeded, report: TaskReport::default() }
    }

    #[tokio::test]
    async fn result_stays_until_removed_and_is_deduplicated() {
        let queue = ResultQueue::default();
        for instance in [2, 1, 2] {
            queue.add(finished(instance));
        }
        for instance in [1, 2] {
            assert_eq!(queue.first().await, finished(instance));
            assert_eq!(queue.first().await, finished(instance), "not removed by reading");
            queue.remove(&[finished(instance).key]);
        }
        // A waiting consumer is notified of an added result.
        let later = async {
            tokio::task::yield_now().await;
            queue.add(finished(3));
        };
        assert_eq!(tokio::join!(queue.first(), later).0, finished(3));
    }

    #[test]
    fn queue_is_bounded() {
        let queue = ResultQueue::default();
        for instance in 0..=RESULTS_MAX as u32 {
            queue.add(finished(instance));
        }
        assert_eq!(queue.0.results.lock().len(), RESULTS_MAX);
    }
}
