//! What is kept inside of one process, for as long as that lives.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::kept::{KeepSettings, Kept, Receipt};
use crate::subject::Subject;

/// All that is kept, by its name.
#[derive(Clone, Default)]
pub(super) struct Shelves(Arc<Mutex<BTreeMap<&'static str, Arc<Shelf>>>>);

pub(crate) struct Shelf {
    settings: KeepSettings,
    contents: Mutex<Contents>,
    has_changed: Notify,
}

#[derive(Default)]
struct Contents {
    entries: VecDeque<Entry>,
    n_bytes: u64,
    /// And when they were kept.
    ids: BTreeMap<String, Instant>,
    next_number: u64,
}

struct Entry {
    number: u64,
    subject: Subject,
    body: Vec<u8>,
    kept_at: Instant,
    /// Nobody takes it before.
    free_at: Instant,
    n_times: u64,
}

pub(crate) struct MemoryKeeper(Arc<Shelf>);

pub(crate) struct MemoryReceipt {
    shelf: Arc<Shelf>,
    number: u64,
}

impl Shelves {
    pub(super) fn keeper(&self, settings: &KeepSettings) -> MemoryKeeper {
        let mut shelves = self.lock();
        let made = || {
            let (settings, contents) = (settings.clone(), Mutex::default());
            Arc::new(Shelf { settings, contents, has_changed: Notify::new() })
        };
        MemoryKeeper(Arc::clone(shelves.entry(settings.name).or_insert_with(made)))
    }

    /// Whether anybody keeps such messages.
    pub(super) fn keep(&self, subject: &Subject, id: &str, body: &[u8]) -> bool {
        let shelves = self.lock();
        let mut is_kept = false;
        for shelf in shelves.values().filter(|shelf| shelf.settings.subjects.matches(subject)) {
            shelf.keep(subject, id, body);
            is_kept = true;
        }
        is_kept
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Arc<Shelf>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn keep(&self, subject: &Subject, id: &str, body: &[u8]) {
        let now = Instant::now();
        let KeepSettings { bytes_max, once_within, .. } = self.settings;
        let mut contents = self.lock();
        contents.ids.retain(|_, kept_at| now.duration_since(*kept_at) < once_within);
        if contents.ids.contains_key(id) {
            return;
        }
        contents.ids.insert(id.to_owned(), now);
        let number = contents.next_number;
        contents.next_number += 1;
        contents.n_bytes += body.len() as u64;
        let (subject, body) = (subject.clone(), body.to_vec());
        contents.entries.push_back(Entry { number, subject, body, kept_at: now, free_at: now, n_times: 0 });
        while contents.n_bytes > bytes_max && contents.drop_oldest() {}
        drop(contents);
        self.has_changed.notify_one();
    }

    /// The next one that is free; else when one may be.
    fn take(&self) -> Result<(u64, Subject, Vec<u8>, u64), Option<Instant>> {
        let now = Instant::now();
        let KeepSettings { age_max, taken_for, .. } = self.settings;
        let mut contents = self.lock();
        let is_old = |entry: &Entry| now.duration_since(entry.kept_at) >= age_max;
        while contents.entries.front().is_some_and(is_old) && contents.drop_oldest() {}
        match contents.entries.iter_mut().find(|entry| entry.free_at <= now) {
            Some(entry) => {
                entry.free_at = now + taken_for;
                entry.n_times += 1;
                Ok((entry.number, entry.subject.clone(), entry.body.clone(), entry.n_times))
            }
            None => Err(contents.entries.iter().map(|entry| entry.free_at).min()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    fn drop_oldest(&mut self) -> bool {
        let oldest = self.entries.pop_front();
        self.n_bytes -= oldest.as_ref().map_or(0, |entry| entry.body.len() as u64);
        oldest.is_some()
    }
}

impl MemoryKeeper {
    pub(crate) async fn next(&mut self) -> Kept {
        let shelf = &self.0;
        loop {
            // Before it is looked, so that nothing that comes meanwhile is missed.
            let changed = shelf.has_changed.notified();
            let free_at = match shelf.take() {
                Ok((number, subject, body, n_times)) => {
                    // There may be more, for others.
                    shelf.has_changed.notify_one();
                    let receipt = Receipt::Memory(MemoryReceipt { shelf: Arc::clone(shelf), number });
                    return Kept { subject, body, n_times, receipt };
                }
                Err(free_at) => free_at,
            };
            let free = async {
                match free_at {
                    Some(free_at) => tokio::time::sleep_until(free_at).await,
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

impl MemoryReceipt {
    pub(crate) fn done(&self) {
        let mut contents = self.shelf.lock();
        if let Some(at) = contents.entries.iter().position(|entry| entry.number == self.number)
            && let Some(entry) = contents.entries.remove(at)
        {
            contents.n_bytes -= entry.body.len() as u64;
        }
    }

    pub(crate) fn again(&self, after: Duration) {
        let mut contents = self.shelf.lock();
        if let Some(entry) = contents.entries.iter_mut().find(|entry| entry.number == self.number) {
            entry.free_at = Instant::now() + after;
        }
        drop(contents);
        self.shelf.has_changed.notify_one();
    }
}
