//! Metrics of runs, task instances and attempts.

use prometheus_client::metrics::gauge::Gauge;
use stoker_orchestrator::{Orchestrator, RunMetrics};

use super::book::Book;

pub(super) struct Engine {
    active: Gauge,
    waiting: Gauge,
}

impl Engine {
    pub(super) fn new(book: &mut Book, counters: &RunMetrics) -> Self {
        let RunMetrics { runs, instances, attempts_sent, attempts, changes, events, writes } = counters;
        book.enter(
            "runs",
            "counter",
            &["end"],
            "Runs that ended on this server: `succeeded`, `failed`, `stopped`, `partial`",
            runs.clone(),
        );
        book.enter(
            "instances",
            "counter",
            &["end"],
            "Task instances that ended: `succeeded`, `failed`, `ignored`, `cancelled`, `skipped`, `blocked`, `not_started`",
            instances.clone(),
        );
        let sent = "Dispatched attempts";
        book.enter("attempts_sent", "counter", &[], sent, attempts_sent.clone());
        book.enter(
            "attempts",
            "counter",
            &["end"],
            "Attempts that ended: `succeeded`, `failed`, `timed_out`, `cancelled`, `interrupted`, `refused`, `lost`, `no_answer`",
            attempts.clone(),
        );
        book.enter(
            "attempt_changes",
            "counter",
            &["changed"],
            "Attempts of real runs that ended, by whether they changed their host: `true`, `false`, `unknown`",
            changes.clone(),
        );
        book.enter("run_events", "counter", &[], "Committed run events", events.clone());
        book.enter(
            "run_write_duration_seconds",
            "histogram",
            &[],
            "Duration of commits of run batches, including the wait for a write slot",
            writes.clone(),
        );
        Self {
            active: book.gauge("runs_active", "Runs that this server drives"),
            waiting: book
                .gauge("run_commands_waiting", "Agent reports and control requests queued for drivers"),
        }
    }

    pub(super) fn read(&self, orchestrator: &Orchestrator) {
        let (n_runs, n_commands) = orchestrator.agents.load();
        self.active.set(i64::try_from(n_runs).unwrap_or(i64::MAX));
        self.waiting.set(i64::try_from(n_commands).unwrap_or(i64::MAX));
    }
}
