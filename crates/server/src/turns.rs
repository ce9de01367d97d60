//! A few places for many, given in turn: whoever asks for much waits behind whoever asks for little.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Places that are given round and round to the keys that ask for one; requests of the same key are served in the
/// order in which they came. A key is whatever shall not be starved by the others: a cluster, for instance.
#[derive(Clone)]
pub(crate) struct Turns {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    n_free: usize,
    waiting: VecDeque<Line>,
}

/// Those who wait under one key.
struct Line {
    key: i64,
    waiters: VecDeque<oneshot::Sender<Turn>>,
}

/// A place, given back when it is dropped.
pub(crate) struct Turn {
    turns: Turns,
}

impl Turns {
    pub(crate) fn new(n_places: usize) -> Self {
        Self { inner: Arc::new(Mutex::new(Inner { n_free: n_places, waiting: VecDeque::new() })) }
    }

    /// Waits for a place. Whoever stops waiting has lost nothing for the others.
    pub(crate) async fn take(&self, key: i64) -> Turn {
        let asked = {
            let mut inner = self.lock();
            if inner.n_free > 0 {
                inner.n_free -= 1;
                return self.turn();
            }
            let (sender, receiver) = oneshot::channel();
            match inner.waiting.iter_mut().find(|line| line.key == key) {
                Some(line) => line.waiters.push_back(sender),
                None => inner.waiting.push_back(Line { key, waiters: VecDeque::from([sender]) }),
            }
            receiver
        };
        // The sender goes only when it has sent, or with all of this.
        asked.await.unwrap_or_else(|_| self.turn())
    }

    pub(crate) fn n_waiting(&self) -> usize {
        self.lock().waiting.iter().map(|line| line.waiters.len()).sum()
    }

    fn turn(&self) -> Turn {
        Turn { turns: self.clone() }
    }

    /// The next one in turn, if anybody waits; otherwise the place is free.
    fn next(&self) -> Option<oneshot::Sender<Turn>> {
        let mut inner = self.lock();
        while let Some(mut line) = inner.waiting.pop_front() {
            let next = line.waiters.pop_front();
            if !line.waiters.is_empty() {
                inner.waiting.push_back(line);
            }
            if let Some(waiter) = next.filter(|waiter| !waiter.is_closed()) {
                return Some(waiter);
            }
        }
        inner.n_free += 1;
        None
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(waiter) = self.turns.next() {
            // One who has gone in this moment drops it, which hands it on.
            _ = waiter.send(self.turns.turn());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Who got a place in which order, when all of them ask while it is taken.
    async fn order(asked: &[i64]) -> Vec<i64> {
        let turns = Turns::new(1);
        let first = turns.take(0).await;
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for key in asked {
            let (turns, served, key) = (turns.clone(), Arc::clone(&served), *key);
            let task = tokio::spawn(async move {
                let _turn = turns.take(key).await;
                served.lock().unwrap().push(key);
            });
            // Until it waits.
            tokio::task::yield_now().await;
            tasks.push(task);
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        let served = served.lock().unwrap();
        served.clone()
    }

    #[tokio::test]
    async fn each_key_has_its_turn() {
        assert_eq!(order(&[1, 1, 1, 1, 2, 3, 2]).await, [1, 2, 3, 1, 2, 1, 1]);
        assert_eq!(order(&[5]).await, [5]);
    }

    /// How many turns others had at most while a small key waited for one, with so many who want one under each large key.
    async fn most_before_small(large: &[usize]) -> usize {
        let turns = Turns::new(1);
        let n_given = Arc::new(Mutex::new(0));
        let mut tasks = tokio::task::JoinSet::new();
        for (key, n_tasks) in large.iter().enumerate() {
            for _ in 0..*n_tasks {
                let (turns, n_given) = (turns.clone(), Arc::clone(&n_given));
                // As a run does: as soon as something is written down there is more.
                tasks.spawn(async move {
                    loop {
                        let _turn = turns.take(key as i64).await;
                        *n_given.lock().unwrap() += 1;
                        tokio::task::yield_now().await;
                    }
                });
            }
        }
        let mut most = 0;
        for _ in 0..20 {
            tokio::task::yield_now().await;
            let before = *n_given.lock().unwrap();
            let _turn = turns.take(-1).await;
            most = most.max(*n_given.lock().unwrap() - before);
        }
        most
    }

    #[tokio::test]
    async fn who_asks_for_little_waits_for_keys_and_not_for_those_who_wait_under_them() {
        for large in [&[10][..], &[10_000], &[5_000, 10, 3_000]] {
            let most = most_before_small(large).await;
            // One of each, and whoever has the place.
            assert!(most <= large.len() + 1, "{most} turns before it, beside {large:?}");
        }
    }

    #[tokio::test]
    async fn places_are_not_lost_when_somebody_stops_waiting() {
        let turns = Turns::new(2);
        let (first, second) = (turns.take(1).await, turns.take(1).await);
        for key in 0..3 {
            let waited = tokio::time::timeout(Duration::from_millis(5), turns.take(key)).await;
            assert!(waited.is_err(), "there are two places");
        }
        drop(first);
        drop(second);
        assert_eq!(turns.n_waiting(), 0);
        let _both = (turns.take(7).await, turns.take(7).await);
        assert!(tokio::time::timeout(Duration::from_millis(5), turns.take(7)).await.is_err());
    }
}
