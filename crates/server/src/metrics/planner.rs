//! Plans.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::book::{Book, long_times, numbers};
use crate::state::App;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: String,
}

pub(crate) struct Planner {
    plans: Family<OutcomeLabels, Counter>,
    durations: Histogram,
    instances: Histogram,
    waiting: Gauge,
}

impl Planner {
    pub(super) fn new(book: &mut Book) -> Self {
        Self {
            plans: book.counters("plans", &["outcome"], "Plans computed: `made`, or `refused` with reasons"),
            durations: book.histogram("plan_duration_seconds", "Time to compute a plan", long_times),
            instances: book.histogram("plan_instances", "Task instances of a plan", numbers),
            waiting: book.gauge("plans_waiting", "Plans that wait for their turn to be computed"),
        }
    }

    pub(super) fn read(&self, app: &App) {
        self.waiting.set(i64::try_from(app.plans.n_waiting()).unwrap_or(i64::MAX));
    }

    /// A plan was computed; `n_instances` if it is one.
    pub(crate) fn planned(&self, took: Duration, n_instances: Option<usize>) {
        self.durations.observe(took.as_secs_f64());
        let outcome = if n_instances.is_some() { "made" } else { "refused" };
        self.plans.get_or_create(&OutcomeLabels { outcome: outcome.to_owned() }).inc();
        if let Some(n_instances) = n_instances {
            self.instances.observe(n_instances as f64);
        }
    }
}
