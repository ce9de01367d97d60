//! Bus metrics.

use std::sync::atomic::Ordering;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use stoker_orchestrator::{BusMetrics, Orchestrator};

use super::book::Book;

pub(super) struct Bus {
    up: Gauge,
    published: Counter,
    received: Counter,
    lost: Counter,
}

impl Bus {
    pub(super) fn new(book: &mut Book, counters: &BusMetrics) -> Self {
        let BusMetrics { stores_results: keeps, results } = counters;
        let keeps_help = "Whether the bus stores agent results durably: 1 or 0";
        book.enter("bus_keeps", "gauge", &[], keeps_help, keeps.clone());
        book.enter(
            "bus_results",
            "counter",
            &["outcome"],
            "Agent results consumed from the bus: `settled`, `refused`, or `later` (to be redelivered)",
            results.clone(),
        );
        Self {
            up: book.gauge("bus_up", "Whether the bus is connected: 1 or 0"),
            published: book.counter("bus_published", "Messages sent to other servers and agents"),
            received: book.counter("bus_received", "Messages from other servers and agents"),
            lost: book.counter("bus_lost", "Messages dropped because a subscriber was too slow"),
        }
    }

    /// Copies the totals that the bus itself counts.
    pub(super) fn read(&self, orchestrator: &Orchestrator) {
        let stats = orchestrator.bus.stats();
        self.up.set(i64::from(orchestrator.bus.is_connected()));
        for (counter, n) in [
            (&self.published, stats.n_published),
            (&self.received, stats.n_received),
            (&self.lost, stats.n_lost),
        ] {
            counter.inner().store(n, Ordering::Relaxed);
        }
    }
}
