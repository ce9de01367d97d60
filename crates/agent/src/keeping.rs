//! Results on their way to a second keeper, for a machine that is lost before a server has them.
//!
//! The journal remains what an agent answers for: whatever is here is in it, and nothing waits for it. A result leaves when
//! somebody keeps it, or when a server has it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stoker_engine::session::{AttemptKey, Finished};
use tokio::sync::Notify;

/// More are left to the journal alone.
const WAITING_MAX: usize = 10_000;

/// Cloning is cheap; all clones are the same.
#[derive(Clone, Default)]
pub struct Keeping(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    results: Mutex<BTreeMap<AttemptKey, Finished>>,
    has_more: Notify,
}

impl Keeping {
    pub(crate) fn add(&self, finished: Finished) {
        let mut results = self.lock();
        if results.len() < WAITING_MAX {
            results.insert(finished.key, finished);
        }
        drop(results);
        self.0.has_more.notify_one();
    }

    /// Somebody has these.
    pub(crate) fn settled(&self, keys: &[AttemptKey]) {
        let mut results = self.lock();
        for key in keys {
            results.remove(key);
        }
    }

    /// Waits until there is one, which stays until it is settled.
    pub(crate) async fn first(&self) -> Finished {
        loop {
            let more = self.0.has_more.notified();
            let first = self.lock().first_key_value().map(|(_, finished)| finished.clone());
            match first {
                Some(finished) => return finished,
                None => more.await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AttemptKey, Finished>> {
        self.0.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use stoker_engine::session::End;
    use stoker_model::{JsonMap, Micros, RunId};

    use super::*;

    fn finished(instance: u32) -> Finished {
        let key = AttemptKey { run: RunId(1), instance, attempt: 1 };
        Finished { key, at: Micros(0), end: End::Succeeded, summary: JsonMap::new() }
    }

    #[tokio::test]
    async fn a_result_waits_until_it_is_settled_and_is_there_once() {
        let keeping = Keeping::default();
        for instance in [2, 1, 2] {
            keeping.add(finished(instance));
        }
        for instance in [1, 2] {
            assert_eq!(keeping.first().await, finished(instance));
            assert_eq!(keeping.first().await, finished(instance), "it stays");
            keeping.settled(&[finished(instance).key]);
        }
        // One that comes while somebody waits is noticed.
        let later = async {
            tokio::task::yield_now().await;
            keeping.add(finished(3));
        };
        assert_eq!(tokio::join!(keeping.first(), later).0, finished(3));
    }

    #[test]
    fn what_waits_is_bounded() {
        let keeping = Keeping::default();
        for instance in 0..=WAITING_MAX as u32 {
            keeping.add(finished(instance));
        }
        assert_eq!(keeping.lock().len(), WAITING_MAX);
    }
}
