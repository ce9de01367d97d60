//! What a bus did, for those who watch it.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Counts {
    published: AtomicU64,
    received: AtomicU64,
    lost: AtomicU64,
}

/// Since the bus was made, seen from this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusStats {
    pub n_published: u64,
    /// Handed to listeners; one message may have several.
    pub n_received: u64,
    /// Not handed to a listener that was too slow.
    pub n_lost: u64,
}

impl Counts {
    pub(crate) fn published(&self) {
        self.published.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> BusStats {
        BusStats {
            n_published: self.published.load(Ordering::Relaxed),
            n_received: self.received.load(Ordering::Relaxed),
            n_lost: self.lost.load(Ordering::Relaxed),
        }
    }
}
