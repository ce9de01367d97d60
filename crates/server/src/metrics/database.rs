//! Database metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use stoker_services::Clock;
use stoker_store::{Observer, Operation, Store};

use super::book::{Book, Histograms, short_times};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolLabels {
    pool: String,
    state: String,
}

pub(super) struct Database {
    pool: Family<PoolLabels, Gauge>,
    watch: Watch,
}

/// Observer of all database operations of the store.
#[derive(Clone)]
struct Watch {
    began: Instant,
    durations: Histograms<OperationLabels>,
    errors: Family<OperationLabels, Counter>,
}

impl Database {
    pub(super) fn new(book: &mut Book) -> Self {
        Self {
            pool: book.gauges(
                "database_connections",
                &["pool", "state"],
                "Connections to the database: `idle` or `busy`",
            ),
            watch: Watch {
                began: Clock::instant(),
                durations: book.histograms(
                    "database_duration_seconds",
                    &["operation"],
                    "Time the database took: `connect` (its turn to write included), `statement`, `commit`",
                    short_times,
                ),
                errors: book.counters(
                    "database_errors",
                    &["operation"],
                    "Database errors: unavailable, timed out, or rejected",
                ),
            },
        }
    }

    pub(super) fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(self.watch.clone())
    }

    pub(super) fn read(&self, store: &Store) {
        for (pool, n_connections, n_idle) in store.pools() {
            for (state, n) in [("idle", n_idle), ("busy", n_connections.saturating_sub(n_idle))] {
                let labels = PoolLabels { pool: pool.to_owned(), state: state.to_owned() };
                self.pool.get_or_create(&labels).set(i64::try_from(n).unwrap_or(i64::MAX));
            }
        }
    }
}

impl Observer for Watch {
    fn now(&self) -> Duration {
        Clock::instant().duration_since(self.began)
    }

    fn on_operation(&self, operation: Operation, took: Duration, failed: bool) {
        let operation = match operation {
            Operation::Connect => "connect",
            Operation::Statement => "statement",
            Operation::Commit => "commit",
        };
        let labels = OperationLabels { operation: operation.to_owned() };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        if failed {
            self.errors.get_or_create(&labels).inc();
        }
    }
}
