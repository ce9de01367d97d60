//! Durable messages within one process; lost when it exits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::retained::{Retained, StreamSettings};
use crate::subject::Subject;

/// All queues by name.
#[derive(Clone, Default)]
pub(super) struct WorkQueues(Arc<Mutex<BTreeMap<&'static str, Arc<WorkQueue>>>>);

pub(crate) struct WorkQueue {
    settings: StreamSettings,
    contents: Mutex<Contents>,
    changed_notify: Notify,
}

#[derive(Default)]
struct Contents {
    entries: VecDeque<Entry>,
    n_bytes: u64,
    /// Ids within the deduplication window, with their time of arrival.
    ids: BTreeMap<String, Instant>,
    next_number: u64,
}

struct Entry {
    number: u64,
    subject: Subject,
    body: Vec<u8>,
    stored_at: Instant,
    /// Earliest delivery time.
    available_at: Instant,
    n_deliveries: u64,
}

pub(crate) struct MemoryConsumer(Arc<WorkQueue>);

pub(crate) struct MemoryAck {
    queue: Arc<WorkQueue>,
    number: u64,
}

impl WorkQueues {
    pub(super) fn consumer(&self, settings: &StreamSettings) -> MemoryConsumer {
        let mut queues = self.lock();
        let new_queue = || {
            let (settings, contents) = (settings.clone(), Mutex::default());
            Arc::new(WorkQueue { settings, contents, changed_notify: Notify::new() })
        };
        MemoryConsumer(Arc::clone(queues.entry(settings.name).or_insert_with(new_queue)))
    }

    /// Stores a message in all matching queues. Returns whether there is a matching queue.
    pub(super) fn store(&self, subject: &Subject, id: &str, body: &[u8]) -> bool {
        let queues = self.lock();
        let mut is_stored = false;
        for queue in queues.values().filter(|queue| queue.settings.subjects.matches(subject)) {
            queue.store(subject, id, body);
            is_stored = true;
        }
        is_stored
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Arc<WorkQueue>>> {
        self.0.lock()
    }
}

impl WorkQueue {
    fn store(&self, subject: &Subject, id: &str, body: &[u8]) {
        let now = Instant::now();
        let StreamSettings { bytes_max, dedup_window, .. } = self.settings;
        let mut contents = self.lock();
        contents.ids.retain(|_, stored_at| now.duration_since(*stored_at) < dedup_window);
        if contents.ids.contains_key(id) {
            return;
        }
        contents.ids.insert(id.to_owned(), now);
        let number = contents.next_number;
        contents.next_number += 1;
        contents.n_bytes += body.len() as u64;
        let (subject, body) = (subject.clone(), body.to_vec());
        contents.entries.push_back(Entry {
            number,
            subject,
            body,
            stored_at: now,
            available_at: now,
            n_deliveries: 0,
        });
        while contents.n_bytes > bytes_max && contents.drop_oldest() {}
        drop(contents);
        self.changed_notify.notify_one();
    }

    /// Returns the next available message, or the time at which one may become available.
    fn take(&self) -> Result<(u64, Subject, Vec<u8>, u64), Option<Instant>> {
        let now = Instant::now();
        let StreamSettings { age_max, ack_wait, .. } = self.settings;
        let mut contents = self.lock();
        let is_old = |entry: &Entry| now.duration_since(entry.stored_at) >= age_max;
        while contents.entries.front().is_some_and(is_old) && contents.drop_oldest() {}
        match contents.entries.iter_mut().find(|entry| entry.available_at <= now) {
            Some(entry) => {
                entry.available_at = now + ack_wait;
                entry.n_deliveries += 1;
                Ok((entry.number, entry.subject.clone(), entry.body.clone(), entry.n_deliveries))
            }
            None => Err(contents.entries.iter().map(|entry| entry.available_at).min()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock()
    }
}

impl Contents {
    fn drop_oldest(&mut self) -> bool {
        let oldest = self.entries.pop_front();
        self.n_bytes -= oldest.as_ref().map_or(0, |entry| entry.body.len() as u64);
        oldest.is_some()
    }
}

impl MemoryConsumer {
    pub(crate) async fn next(&mut self) -> Retained<MemoryAck> {
        let queue = &self.0;
        loop {
            // Register before checking, so that no wake-up is missed.
            let changed = queue.changed_notify.notified();
            let available_at = match queue.take() {
                Ok((number, subject, body, n_deliveries)) => {
                    // Wake another consumer: there may be more messages.
                    queue.changed_notify.notify_one();
                    let ack = MemoryAck { queue: Arc::clone(queue), number };
                    return Retained { subject, body, n_deliveries, ack };
                }
                Err(available_at) => available_at,
            };
            let free = async {
                match available_at {
                    Some(available_at) => tokio::time::sleep_until(available_at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = changed => {}
                () = free => {}
            }
        }
    }
}

impl MemoryAck {
    pub(crate) fn ack(&self) {
        let mut contents = self.queue.lock();
        if let Some(at) = contents.entries.iter().position(|entry| entry.number == self.number)
            && let Some(entry) = contents.entries.remove(at)
        {
            contents.n_bytes -= entry.body.len() as u64;
        }
    }

    pub(crate) fn nak(&self, after: Duration) {
        let mut contents = self.queue.lock();
        if let Some(entry) = contents.entries.iter_mut().find(|entry| entry.number == self.number) {
            entry.available_at = Instant::now() + after;
        }
        drop(contents);
        self.queue.changed_notify.notify_one();
    }
}
