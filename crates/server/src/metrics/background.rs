//! Background task metrics.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use stoker_model::Micros;
use stoker_services::background::BackgroundTasks;

use super::book::Book;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TaskLabels {
    task: &'static str,
}

pub(super) struct Background {
    succeeded: Family<TaskLabels, Gauge>,
    failures: Family<TaskLabels, Counter>,
}

impl Background {
    pub(super) fn new(book: &mut Book) -> Self {
        Self {
            succeeded: book.gauges(
                "background_task_success_timestamp_seconds",
                &["task"],
                "Unix time of the latest successful pass of a background task",
            ),
            failures: book.counters(
                "background_task_failures",
                &["task"],
                "Failed passes of a background task",
            ),
        }
    }

    pub(super) fn read(&self, tasks: &BackgroundTasks) {
        for status in tasks.statuses() {
            let labels = TaskLabels { task: status.name };
            if let Some(Micros(at)) = status.succeeded_at {
                self.succeeded.get_or_create(&labels).set(at / Micros::SECOND);
            }
            let failures = self.failures.get_or_create(&labels);
            failures.inner().store(status.n_failures, std::sync::atomic::Ordering::Relaxed);
        }
    }
}
