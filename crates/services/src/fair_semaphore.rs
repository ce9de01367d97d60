//! A semaphore whose permits are handed out round-robin over keys, so that no key starves another.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Permits are granted to waiting keys in round-robin order; waiters of one key are served first in, first
/// out. A key identifies a resource that others must not starve, such as a cluster.
#[derive(Clone)]
pub struct FairSemaphore {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    n_free: usize,
    waiting: VecDeque<Line>,
}

/// The waiters of one key.
struct Line {
    key: i64,
    waiters: VecDeque<oneshot::Sender<FairPermit>>,
}

/// A permit of the semaphore; released on drop.
pub struct FairPermit {
    semaphore: FairSemaphore,
}

impl FairSemaphore {
    pub fn new(n_permits: usize) -> Self {
        Self { inner: Arc::new(Mutex::new(Inner { n_free: n_permits, waiting: VecDeque::new() })) }
    }

    /// Acquires a permit. Cancel-safe: dropping the future loses no permit.
    pub async fn acquire(&self, key: i64) -> FairPermit {
        let requested = {
            let mut inner = self.inner.lock();
            if inner.n_free > 0 {
                inner.n_free -= 1;
                return self.permit();
            }
            let (sender, receiver) = oneshot::channel();
            match inner.waiting.iter_mut().find(|line| line.key == key) {
                Some(line) => line.waiters.push_back(sender),
                None => inner.waiting.push_back(Line { key, waiters: VecDeque::from([sender]) }),
            }
            receiver
        };
        // The sender is dropped only after sending, or together with the semaphore.
        requested.await.unwrap_or_else(|_| self.permit())
    }

    pub fn n_waiting(&self) -> usize {
        self.inner.lock().waiting.iter().map(|line| line.waiters.len()).sum()
    }

    fn permit(&self) -> FairPermit {
        FairPermit { semaphore: self.clone() }
    }

    /// Returns the next waiter. If there is none, the permit becomes free.
    fn next(&self) -> Option<oneshot::Sender<FairPermit>> {
        let mut inner = self.inner.lock();
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
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        if let Some(waiter) = self.semaphore.next() {
            // A waiter cancelled at this moment drops the permit, which passes it on.
            _ = waiter.send(self.semaphore.permit());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Returns the order in which keys get the permit when all of them request it while it is taken.
    async fn order(requested: &[i64]) -> Vec<i64> {
        let semaphore = FairSemaphore::new(1);
        let first = semaphore.acquire(0).await;
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for key in requested {
            let (semaphore, served, key) = (semaphore.clone(), Arc::clone(&served), *key);
            let task = tokio::spawn(async move {
                let _permit = semaphore.acquire(key).await;
                served.lock().push(key);
            });
            // Let the task enqueue itself.
            tokio::task::yield_now().await;
            tasks.push(task);
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        let served = served.lock();
        served.clone()
    }

    #[tokio::test]
    async fn permits_rotate_between_keys() {
        assert_eq!(order(&[1, 1, 1, 1, 2, 3, 2]).await, [1, 2, 3, 1, 2, 1, 1]);
        assert_eq!(order(&[5]).await, [5]);
    }

    /// Returns how many permits were granted to other keys while a small key waited, with `large[k]` waiters for each key `k`.
    async fn most_before_small(large: &[usize]) -> usize {
        let semaphore = FairSemaphore::new(1);
        let n_given = Arc::new(Mutex::new(0));
        let mut tasks = tokio::task::JoinSet::new();
        for (key, n_tasks) in large.iter().enumerate() {
            for _ in 0..*n_tasks {
                let (semaphore, n_given) = (semaphore.clone(), Arc::clone(&n_given));
                // Like a driver that writes continuously, the task requests the next permit immediately.
                tasks.spawn(async move {
                    loop {
                        let _permit = semaphore.acquire(key as i64).await;
                        *n_given.lock() += 1;
                        tokio::task::yield_now().await;
                    }
                });
            }
        }
        let mut most = 0;
        for _ in 0..20 {
            tokio::task::yield_now().await;
            let before = *n_given.lock();
            let _permit = semaphore.acquire(-1).await;
            most = most.max(*n_given.lock() - before);
        }
        most
    }

    #[tokio::test]
    async fn wait_is_bounded_by_number_of_keys() {
        for large in [&[10][..], &[10_000], &[5_000, 10, 3_000]] {
            let most = most_before_small(large).await;
            // At most one permit per other key, and the current holder.
            assert!(most <= large.len() + 1, "{most} permits granted before it, with waiters {large:?}");
        }
    }

    #[tokio::test]
    async fn cancelled_waiters_lose_no_permit() {
        let semaphore = FairSemaphore::new(2);
        let (first, second) = (semaphore.acquire(1).await, semaphore.acquire(1).await);
        for key in 0..3 {
            let waited = tokio::time::timeout(Duration::from_millis(5), semaphore.acquire(key)).await;
            assert!(waited.is_err(), "both permits are taken");
        }
        drop(first);
        drop(second);
        assert_eq!(semaphore.n_waiting(), 0);
        let _both = (semaphore.acquire(7).await, semaphore.acquire(7).await);
        assert!(tokio::time::timeout(Duration::from_millis(5), semaphore.acquire(7)).await.is_err());
    }
}
