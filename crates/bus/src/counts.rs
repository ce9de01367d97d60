//! Bus metrics.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Counts {
    published: AtomicU64,
    received: AtomicU64,
    lost: AtomicU64,
}

/// Counters of this process since the bus was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusStats {
    pub n_published: u64,
    /// Number of messages delivered to subscribers; a message with several subscribers counts several times.
    pub n_received: u64,
    /// Dropped because a subscriber was too slow.
    pub n_lost: u64,
}

impl Counts {
    pub(crate) fn add_published(&self) {
        self.published.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_lost(&self) {
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
