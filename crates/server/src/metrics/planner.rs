//! Planning metrics.

use prometheus_client::metrics::gauge::Gauge;
use stoker_services::planning::{PlanCache, PlanMetrics};

use super::book::Book;

pub(super) struct Planner {
    waiting: Gauge,
}

impl Planner {
    pub(super) fn new(book: &mut Book, counters: &PlanMetrics) -> Self {
        let PlanMetrics { plans, durations, instances } = counters;
        book.enter(
            "plans",
            "counter",
            &["outcome"],
            "Computed plans: `made`, or `refused` because of diagnostics",
            plans.clone(),
        );
        book.enter("plan_duration_seconds", "histogram", &[], "Time to compute a plan", durations.clone());
        book.enter("plan_instances", "histogram", &[], "Task instances per plan", instances.clone());
        Self { waiting: book.gauge("plans_waiting", "Plans queued for computation") }
    }

    pub(super) fn read(&self, plans: &PlanCache) {
        self.waiting.set(i64::try_from(plans.n_waiting()).unwrap_or(i64::MAX));
    }
}
