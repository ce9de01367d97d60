//! Background task metrics.

use std::sync::atomic::AtomicU64;

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
    period: Family<TaskLabels, Gauge<f64, AtomicU64>>,
    started: Family<TaskLabels, Gauge>,
    succeeded: Family<TaskLabels, Gauge>,
    failures: Family<TaskLabels, Counter>,
}

impl Background {
    pub(super) fn new(book: &mut Book) -> Self {
        Self {
            period: book.enter(
                "background_task_period_seconds",
                "gauge",
                &["task"],
                "Time between two passes of a background task; absent for a task that waits for events",
                Family::default(),
            ),
            started: book.gauges(
                "background_task_start_timestamp_seconds",
                &["task"],
                "Unix time of the start of the latest pass of a background task",
            ),
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
            if let Some(period) = status.period {
                self.period.get_or_create(&labels).set(period.as_secs_f64());
            }
            if let Some(Micros(at)) = status.started_at {
                self.started.get_or_create(&labels).set(at / Micros::SECOND);
            }
            if let Some(Micros(at)) = status.succeeded_at {
                self.succeeded.get_or_create(&labels).set(at / Micros::SECOND);
            }
            let failures = self.failures.get_or_create(&labels);
            failures.inner().store(status.n_failures, std::sync::atomic::Ordering::Relaxed);
        }
    }
}
