//! Numbers about the bus.

use std::sync::atomic::Ordering;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::book::Book;
use crate::state::App;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

pub(crate) struct Bus {
    up: Gauge,
    published: Counter,
    received: Counter,
    lost: Counter,
    keeps: Gauge,
    results: Family<OutcomeLabels, Counter>,
}

impl Bus {
    pub(super) fn new(book: &mut Book) -> Self {
        Self {
            up: book.gauge("bus_up", "Whether messages get through: 1 or 0"),
            published: book.counter("bus_published", "Messages sent to other servers and agents"),
            received: book.counter("bus_received", "Messages from other servers and agents"),
            lost: book.counter("bus_lost", "Messages lost because a listener was too slow"),
            keeps: book.gauge("bus_keeps", "Whether the bus keeps results of agents: 1 or 0"),
            results: book.counters(
                "bus_results",
                &["outcome"],
                "Results that the bus kept: `settled`, `refused`, or to be looked at `later`",
            ),
        }
    }

    pub(crate) fn keeps(&self, is_so: bool) {
        self.keeps.set(i64::from(is_so));
    }

    /// One of the words in the description.
    pub(crate) fn result(&self, outcome: &'static str) {
        self.results.get_or_create(&OutcomeLabels { outcome }).inc();
    }

    /// The bus counts by itself; this is what it counted so far.
    pub(super) fn read(&self, app: &App) {
        let stats = app.bus.stats();
        self.up.set(i64::from(app.bus.is_up()));
        for (counter, n) in [
            (&self.published, stats.n_published),
            (&self.received, stats.n_received),
            (&self.lost, stats.n_lost),
        ] {
            counter.inner().store(n, Ordering::Relaxed);
        }
    }
}
